// SPDX-License-Identifier: Apache-2.0
#include "document.hpp"

#include "document_json.hpp"
#include "faults.hpp"
#include "yaml_document.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "berth/io/cluster_file.hpp"
#include "berth/model/instance.hpp"

namespace berth::io {
namespace {

/// Every value with its line.
std::string outline(Node node) {
  std::string text = std::to_string(node.line());
  if (node.is_null()) return text + "null";
  if (node.is_scalar()) return text + "'" + std::string(node.scalar()) + "'";
  text += node.is_list() ? "[" : "{";
  for (std::size_t i = 0; i < node.size(); ++i) {
    if (node.is_list()) {
      text += outline(node.element(i)) + ",";
    } else {
      const auto [key, value] = node.entry(i);
      text += outline(key) + ":" + outline(value) + ",";
    }
  }
  return text + (node.is_list() ? "]" : "}");
}

std::string blank(std::mt19937& draw) {
  constexpr std::array<const char*, 5> blanks{"", "", " ", "\n", "\n\n "};
  return blanks[draw() % blanks.size()];
}

std::string random_value(std::mt19937& draw, int depth) {
  constexpr std::array<const char*, 10> words{
      "0",          "-1.50e+3",           "true", "false", "null", "\"\"",
      "\"m[0-3]\"", R"("a\"b\\ \u00e4")", "[]",   "{}"};
  const std::size_t kind = draw() % (depth > 0 ? 3 : 1);
  if (kind == 0) return words[draw() % words.size()];
  std::string text = kind == 1 ? "[" : "{";
  const std::size_t size = draw() % 4;
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) text += "," + blank(draw);
    if (kind == 2) text += "\"k" + std::to_string(draw() % 3) + "\": ";
    text += random_value(draw, depth - 1) + blank(draw);
  }
  return text + (kind == 1 ? "]" : "}");
}

TEST(Document, json_reads_as_the_same_tree_as_yaml) {
  std::mt19937 draw(7);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = blank(draw) + "{\"a\": " + random_value(draw, 4) + blank(draw) + "}\n";
    Document json;
    ASSERT_EQ(read_json(text, json).problem, "") << text;
    ASSERT_EQ(outline(json.root()), outline(read_yaml(text, "c.yaml").root())) << text;
  }
}

TEST(Document, an_alias_is_the_value_that_it_names) {
  const Document document = read_yaml("a: &x [1, &y 2]\nb: *x\nc: *y\n", "c.yaml");
  EXPECT_EQ(outline(document.root()), "1{1'a':1[1'1',1'2',],2'b':1[1'1',1'2',],3'c':1'2',}");
}

TEST(Document, what_is_not_json_is_told_with_its_line) {
  const auto fault = [](const char* text) {
    Document document;
    return read_json(text, document);
  };
  EXPECT_EQ(fault("{\"a\": 1,\n \"b\": x}").line, 2);
  EXPECT_EQ(fault("{\"a\": 1}\n{\"b\": 1}").problem.empty(), false);
  for (const char* text : {"{a: 1}", "{\"a\": 01}", "{\"a\": 1,}", "{\"a\": [1}", "{\"a\": 1",
                           "{\"a\": tru}", "{\"a\": nul}", "{\"a\": \"b}"}) {
    EXPECT_NE(fault(text).problem, "") << text;
  }
}

std::string names_on_one_line(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) {
    text += (i > 0 ? ", \"machine-" : "\"machine-") + std::to_string(i) + "\"";
  }
  return text;
}

std::string one_line_cluster(const std::string& names) {
  return R"({"schema": 1, "classes": {"c": {"gpu_type": "A", "gpus": 8}}, "pods": [{"id": "p", )"
         R"("racks": [{"id": "r", "machines": [{"class": "c", "ids": [)" +
         names + "]}]}]}]}";
}

TEST(Document, json_may_be_one_line_of_any_length) {
  const std::string names = names_on_one_line(kLongestYamlLine);
  const model::Cluster cluster = parse_cluster(one_line_cluster(names), "c.json");
  EXPECT_GT(cluster.machines(), 190'000U);
  std::string lines = names;
  std::ranges::replace(lines, ' ', '\n');
  const auto digest = [](const model::Cluster& some) {
    return model::instance_digest(model::Instance{.cluster = some, .workload = {}});
  };
  EXPECT_EQ(digest(parse_cluster(one_line_cluster(lines), "c.yaml")), digest(cluster));
}

TEST(Document, a_long_line_of_yaml_is_refused_for_its_memory) {
  const auto parse = [](const std::string& text) { static_cast<void>(parse_cluster(text, "c")); };
  const std::string names = names_on_one_line(kLongestYamlLine);
  expect_fault({"yaml", "schema: 1\nnames: [" + names + "]\n", 2, "", "more than 4 MiB", "JSON"},
               parse);
  expect_fault({"almost_json", one_line_cluster(names + "\n, nan"), 1, "", "more than 4 MiB",
                "as JSON, line 2: "},
               parse);
}

TEST(Document, faults_in_json_are_told_by_line_and_field) {
  const auto parse = [](const std::string& text) { static_cast<void>(parse_cluster(text, "c")); };
  expect_fault(
      {"class", "{\"schema\": 1,\n\"classes\":\n{\"c\": {\"gpus\": 8.5,\n\"gpu_type\": \"A\"}}}", 3,
       "classes.c.gpus", "expected a whole number, found \"8.5\""},
      parse);
  expect_fault({"twice", "{\"schema\": 1,\n\"schema\": 1}", 2, "schema", "given twice"}, parse);
  expect_fault(
      {"absent", "{\"schema\": 1,\n\"pods\": [{\"id\":\nnull}]}", 2, "pods[0].id", "has no value"},
      parse);
}

}  // namespace
}  // namespace berth::io
