// SPDX-License-Identifier: Apache-2.0
#include "cluster_names.hpp"
#include "job_merge.hpp"

#include <string>
#include <utility>

#include "berth/io/cluster_file.hpp"
#include "berth/io/job_blocks.hpp"
#include "berth/io/jobs_file.hpp"

namespace berth::io {

struct JobBlockParser::ParserState {
  ClusterNames cluster_names;
};

JobBlockParser::JobBlockParser(const model::Cluster& cluster)
    : state_(new ParserState{ClusterNames(cluster)}) {}
JobBlockParser::JobBlockParser(JobBlockParser&&) noexcept = default;
JobBlockParser::~JobBlockParser() = default;

JobBlock JobBlockParser::parse(std::string_view lines) const {
  return parse_block(lines, state_->cluster_names);
}

model::Workload parse_jobs(std::string_view text, const std::string& file,
                           model::Cluster& cluster) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const ClusterNames cluster_names(cluster);
  JobMerge merge(cluster, file);
  while (!text.empty()) merge.add(parse_block(take_lines(text, kBlockBytes), cluster_names));
  return merge.finish();
}

model::Workload read_jobs(const std::string& path, model::Cluster& cluster) {
  LineReader reader(path);
  const ClusterNames cluster_names(cluster);
  JobMerge merge(cluster, path);
  bool first = true;
  for (std::string lines; reader.append(lines, kBlockBytes); lines.clear()) {
    merge.add(parse_block(lines, cluster_names));
    if (std::exchange(first, false)) merge.reserve(reader.part_read());
  }
  return merge.finish();
}

std::int64_t line_of(const std::string& path, JobId job) {
  LineReader reader(path);
  std::size_t jobs = 0;
  std::int64_t line = 0;
  for (std::string lines; reader.append(lines, kBlockBytes); lines.clear()) {
    for (std::string_view rest = lines; !rest.empty(); ++line) {
      const std::string_view text = take_lines(rest, 1);
      if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;
      if (jobs++ == job.index()) return line + 1;
    }
  }
  return 0;
}

model::Instance read_instance(const std::string& cluster_path, const std::string& jobs_path) {
  model::Instance instance;
  instance.cluster = read_cluster(cluster_path);
  instance.workload = read_jobs(jobs_path, instance.cluster);
  return instance;
}

}  // namespace berth::io
