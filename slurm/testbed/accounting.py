# SPDX-License-Identifier: Apache-2.0
"""The database of a throw-away Slurm: mariadbd on a socket in its folder, no port, and slurmdbd.
Needs Debian's mariadb-server-core and slurmdbd."""
import os
import pathlib
import pwd
import subprocess

SHARE = pathlib.Path("/usr/share/mysql")
TABLES = ["mysql_system_tables.sql", "mysql_system_tables_data.sql"]
PATIENCE = 60  # seconds


def mariadbd(program, folder):
    """Its command line; data in folder/mysql."""
    root = ["--user=root"] if os.getuid() == 0 else []
    return [program, "--no-defaults", f"--datadir={folder}/mysql", "--innodb-buffer-pool-size=64M",
            "--innodb-log-file-size=16M", "--innodb-flush-log-at-trx-commit=0", *root]


def create_database(program, folder):
    """An empty database whose user root needs no password on the socket."""
    (folder / "mysql").mkdir()
    sql = ("create database mysql;\nuse mysql;\nset @auth_root_socket=null;\n"
           "set @skip_auth_anonymous=1;\n") + "".join((SHARE / name).read_text() for name in TABLES)
    done = subprocess.run([*mariadbd(program, folder), "--bootstrap", "--max-allowed-packet=8M"],
                          input=sql, text=True, errors="replace", capture_output=True,
                          timeout=PATIENCE)
    if done.returncode:
        raise RuntimeError(f"mariadbd --bootstrap: {done.stderr[-2000:]}")


def server_arguments(folder):
    return ["--skip-networking", f"--socket={folder}/mysql.socket",
            f"--pid-file={folder}/mysql.pid"]


def write_slurmdbd_conf(folder, port):
    conf = folder / "slurmdbd.conf"
    user = pwd.getpwuid(os.getuid()).pw_name
    conf.write_text(f"""\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
""")
    conf.chmod(0o600)


def settings(folder, port):
    """Lines of slurm.conf: associations and QOS bind, fairshare and QOS are in the priority."""
    return ["AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=127.0.0.1",
            f"AccountingStoragePort={port}", f"AccountingStoragePass={folder}/munge.socket",
            "AccountingStorageEnforce=associations,limits,qos", "AccountingStorageTRES=gres/gpu",
            # without the fair tree, whose factors are zero until its next period (minutes)
            "PriorityType=priority/multifactor", "PriorityFlags=NO_FAIR_TREE",
            "PriorityWeightFairshare=10000",
            "PriorityWeightQOS=100000"]
