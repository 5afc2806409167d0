// SPDX-FileCopyrightText: 2026 the ZipMPI authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One page without references to other files: the profile as text, and a timeline that can be zoomed and
// moved.
#include "tracing/trace.hpp"

#include "names/function_table.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace zipmpi::tool {
namespace {

constexpr size_t most_calls = 200'000, most_messages = 50'000;

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Trace</title><style>
body { font: 14px "DejaVu Sans", Helvetica, Arial, sans-serif; margin: 16px; color: #222; background: #fff; }
pre { font: 13px "DejaVu Sans Mono", monospace; }
canvas { border: 1px solid #999; cursor: grab; display: block; }
#legend span { display: inline-block; margin: 6px 14px 6px 0; }
#legend i { display: inline-block; width: 12px; height: 12px; margin-right: 5px; }
#hint { height: 20px; color: #444; }
</style></head><body>
<h1>Timeline of MPI calls</h1>
<p>One row per rank. Colors are calls, white is computing, lines are messages. The wheel zooms, dragging moves, a
double click shows everything.</p>
<div id="legend"></div><canvas id="picture"></canvas><div id="hint"></div>
<script>
)";

constexpr const char* script = R"js(
const canvas = document.getElementById("picture"), g = canvas.getContext("2d"), hint = document.getElementById("hint");
const row = Math.max(6, Math.min(28, Math.floor(900 / ranks.length))), left = 90, top_ = 22;
let from = 0, to = duration;
const color = f => "hsl(" + (f * 137.5 + 210) % 360 + ", 55%, " + (42 + 14 * (f % 3)) + "%)"; // neighbors differ
const unit = t => t >= 1e6 ? (t / 1e6).toFixed(3) + " s" : t >= 1e3 ? (t / 1e3).toFixed(3) + " ms" : t.toFixed(3) + " us";
const x = t => left + (t - from) / (to - from) * (canvas.width - left);
const time = px => from + (px - left) / (canvas.width - left) * (to - from);
function drawAxis() {
  const step = [1, 2, 5, 10].map(k => k * Math.pow(10, Math.floor(Math.log10((to - from) / 8)))).find(s => (to - from) / s <= 8);
  g.fillStyle = "#444";
  for (let t = Math.ceil(from / step) * step; t < to; t += step) {
    g.fillRect(x(t), top_ - 5, 1, 5);
    g.fillText(unit(t), x(t) + 2, 12);
  }
}
function drawRank(r, i) {
  const y = top_ + i * row;
  g.fillStyle = i % 2 ? "#f4f4f4" : "#fff";
  g.fillRect(left, y, canvas.width - left, row);
  for (const [start, length, f] of r.calls) {
    if (start + length < from || start > to) continue;
    const a = Math.max(left, x(start));
    g.fillStyle = color(f);
    g.fillRect(a, y + 1, Math.max(0.7, x(start + length) - a), row - 2);
  }
  g.fillStyle = "#222";
  if (row >= 10 || i % 4 == 0) g.fillText("rank " + r.rank, 4, y + row / 2 + 4);
}
function drawMessages() {
  g.save();
  g.beginPath();
  g.rect(left, top_, canvas.width - left, canvas.height - top_);
  g.clip();
  g.strokeStyle = "rgba(0,0,0,0.45)";
  g.lineWidth = 0.7;
  const seen = messages.filter(m => m[3] >= from && m[2] <= to), every = Math.ceil(seen.length / 5000);
  for (const [a, b, sent, received] of seen.filter((_, i) => i % every == 0)) {
    g.beginPath();
    g.moveTo(x(sent), top_ + (a + 0.5) * row);
    g.lineTo(x(received), top_ + (b + 0.5) * row);
    g.stroke();
  }
  g.restore();
}
function draw() {
  canvas.width = Math.max(600, document.body.clientWidth - 4);
  canvas.height = top_ + row * ranks.length + 4;
  g.fillStyle = "#fff";
  g.fillRect(0, 0, canvas.width, canvas.height);
  g.font = "11px DejaVu Sans, sans-serif";
  drawAxis();
  ranks.forEach(drawRank);
  drawMessages();
}
function show(a, b) {
  from = Math.max(0, a);
  to = Math.min(duration, Math.max(b, from + 0.01));
  draw();
}
canvas.onwheel = e => {
  e.preventDefault();
  const t = time(e.offsetX), k = e.deltaY > 0 ? 1.25 : 0.8;
  show(t - (t - from) * k, t + (to - t) * k);
};
let grabbed = null;
canvas.onmousedown = e => { grabbed = [e.offsetX, from, to]; };
window.onmouseup = () => { grabbed = null; };
canvas.ondblclick = () => show(0, duration);
canvas.onmousemove = e => {
  if (grabbed) {
    const [px, a, b] = grabbed, d = (px - e.offsetX) / (canvas.width - left) * (b - a);
    const moved = Math.max(-a, Math.min(duration - b, d));
    return show(a + moved, b + moved);
  }
  const t = time(e.offsetX), r = ranks[Math.floor((e.offsetY - top_) / row)];
  const hit = r && r.calls.find(c => c[0] <= t && t <= c[0] + c[1]);
  const what = hit ? functions[hit[2]] + ", " + unit(hit[1]) : "computing";
  hint.textContent = r ? "rank " + r.rank + " on " + r.host + ", " + unit(t) + ": " + what : "";
};
functions.forEach((name, f) => {
  const s = document.createElement("span"), i = document.createElement("i");
  i.style.background = color(f);
  s.append(i, name);
  document.getElementById("legend").append(s);
});
window.onresize = draw;
draw();
</script>
)js";

double us(int64_t ns) { return static_cast<double>(ns) / 1e3; }

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

// The length of the shortest call that is shown.
int64_t shortest_shown(const Trace& trace) {
    std::vector<int64_t> lengths;
    for (const RankTrace& r : trace.ranks)
        for (const TraceEvent& e : r.events)
            if (e.is_call()) lengths.push_back(e.end - e.start);
    if (lengths.size() <= most_calls) return 0;
    const auto limit = lengths.begin() + most_calls;
    std::nth_element(lengths.begin(), limit, lengths.end(), std::greater<>());
    return *limit;
}

std::string data_text(const Trace& trace, const TraceAnalysis& analysis, int64_t shortest) {
    std::map<uint16_t, size_t> numbers;
    Json functions = Json::array();
    std::string text = "const ranks = [\n";
    for (const RankTrace& r : trace.ranks) {
        text += fmt::format("{{rank: {}, host: {}, calls: [", r.rank, Json(r.host).dump());
        for (const TraceEvent& e : r.events) {
            if (!e.is_call() || e.end - e.start < shortest) continue;
            const auto [number, added] = numbers.try_emplace(e.function, numbers.size());
            if (added) functions.push_back(names::function(e.function).name);
            text += fmt::format("[{:.3f},{:.3f},{}],", us(e.start), us(e.end - e.start), number->second);
        }
        text += "]},\n";
    }
    text += "];\nconst messages = [";
    const size_t every = analysis.messages.size() / most_messages + 1;
    for (size_t i = 0; i < analysis.messages.size(); i += every) {
        const TraceMessage& m = analysis.messages[i];
        text += fmt::format("[{},{},{:.3f},{:.3f}],", m.from, m.to, us(m.sent), us(m.received));
    }
    return text + fmt::format("];\nconst functions = {};\nconst duration = {:.3f};\n", functions.dump(),
                              us(trace.duration));
}

} // namespace

bool write_html(const Trace& trace, const TraceAnalysis& analysis, const Json& facts, const std::string& path,
                Diagnostic& why) {
    const int64_t shortest = shortest_shown(trace);
    std::string text = head + data_text(trace, analysis, shortest) + script;
    if (shortest > 0)
        text += fmt::format("<p>Calls shorter than {:.3f} us are not drawn.</p>\n", us(shortest));
    text += "<h2>Profile</h2>\n<pre>" + escaped(trace_text(facts)) + "</pre>\n</body></html>\n";
    FILE* const file = std::fopen(path.c_str(), "we");
    bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (file != nullptr) good = std::fclose(file) == 0 && good;
    if (!good)
        why = {"the page could not be written", path, std::strerror(errno),
               "check the name and the free space"};
    return good;
}

} // namespace zipmpi::tool
