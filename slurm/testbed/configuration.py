# SPDX-License-Identifier: Apache-2.0
"""slurm.conf, gres.conf and topology.conf of a throw-away Slurm."""
import os
import pwd
import socket

MEMORY_MIB = 4096  # of a real node; a setting, not measured


def real_node(name="n0", cpus=4, more=""):
    """The node whose slurmd runs here; it reports these CPUs. At most one.
    `more` may add e.g. Gres=gpu:a100:4 or Feature=nvlink."""
    return (f"NodeName={name} NodeAddr=127.0.0.1 Port=@port@ CPUs={cpus} "
            f"RealMemory={MEMORY_MIB} {more}")


def cloud_nodes(names, cpus=32, gpus=0, gpu_type=None, memory_mib=262144, more=""):
    """Nodes without machines behind them, e.g. "c[000-127]". Their address refuses at once; names
    that no resolver knows would hold slurmctld up."""
    kind = f"gpu:{gpu_type}" if gpu_type else "gpu"
    gres = f"Gres={kind}:{gpus}" if gpus else ""
    return (f"NodeName={names} NodeAddr=127.0.0.1 Port=@closed@ State=CLOUD CPUs={cpus} "
            f"RealMemory={memory_mib} {gres} {more}")


def tree(prefix, count, width, leaf, leaves_per_spine=32):
    """topology.conf: `count` nodes prefix0.. of `width` digits, one switch for each `leaf` nodes."""
    def named(first, last):
        return f"{prefix}[{first:0{width}d}-{last:0{width}d}]"

    leaves = [(first, min(first + leaf, count) - 1) for first in range(0, count, leaf)]
    lines = [f"SwitchName=leaf{i} Nodes={named(*ends)}" for i, ends in enumerate(leaves)]
    spines = range(0, len(leaves), leaves_per_spine)
    for i, first in enumerate(spines):
        last = min(first + leaves_per_spine, len(leaves)) - 1
        lines.append(f"SwitchName=spine{i} Switches=leaf[{first}-{last}]")
    if len(spines) > 1:
        lines.append(f"SwitchName=core Switches=spine[0-{len(spines) - 1}]")
    return "\n".join(lines) + "\n"


def is_real(node):
    return "State=CLOUD" not in node


def name_of(node):
    return node.split()[0].partition("=")[2]


def gres_lines(node, folder):
    """gres.conf for a line of nodes. A cloud node's GPUs need only be counted; those of the real
    one are files, as devices are, or slurmd finds none."""
    words = dict(word.split("=", 1) for word in node.split())
    for gres in filter(None, words.get("Gres", "").split(",")):
        name, *kind, count = gres.split(":")
        line = f"NodeName={name_of(node)} Name={name} " + (f"Type={kind[0]} " if kind else "")
        if not is_real(node):
            yield line + f"Count={count}"
            continue
        stem = "-".join([name, *kind])
        for device in range(int(count)):
            (folder / f"{stem}{device}").touch()
        yield line + f"File={folder}/{stem}[0-{int(count) - 1}]"


def free_ports(count):
    """Ports on which no process listens; all are held at once, so they differ."""
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def slurm_conf(folder, ports):
    """Settings of every throw-away Slurm. No path with %n in SlurmdSpoolDir: it breaks PMI-2.
    cred_expire: minimum waiting time of a job that is queued again."""
    user = pwd.getpwuid(os.getuid()).pw_name
    return f"""\
ClusterName=throwaway
SlurmctldHost={socket.gethostname().partition('.')[0]}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoCtldInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=pmi2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=100000,bf_interval=2
ReturnToService=2
SlurmdTimeout=600
MailProg=/bin/true
ResumeProgram=/bin/true
SuspendProgram=/bin/true
SuspendTime=INFINITE
ResumeTimeout=65000
PrivateData=cloud
TreeWidth=65533
"""


def write(folder, nodes, partitions, topology, settings):
    """Writes all files into `folder`. A later setting replaces an earlier one of the same name."""
    ports = free_ports(3)
    wanted = dict(line.split("=", 1) for line in slurm_conf(folder, ports).splitlines())
    if topology:
        wanted["TopologyPlugin"] = "topology/tree"
        (folder / "topology.conf").write_text(topology)
    wanted.update(line.split("=", 1) for line in settings)
    lines = [f"{name}={value}" for name, value in wanted.items()]
    lines += [node.replace("@port@", str(ports[1])).replace("@closed@", str(ports[2]))
              for node in nodes]
    (folder / "slurm.conf").write_text("\n".join([*lines, *partitions]) + "\n")
    gres = [line for node in nodes for line in gres_lines(node, folder)]
    (folder / "gres.conf").write_text("".join(line + "\n" for line in gres))
