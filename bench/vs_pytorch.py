#!/usr/bin/env python3
"""Time a whole training step against PyTorch's, both in one run.

    bench/vs_pytorch.py [--build DIR]... [--peer PYTHON]... [--rounds N] [--threads N]
                        [--table] [CASE]...

A step is forward, backward and SGD with momentum, in float32 on made-up data, ours timed in C
(bench_step serve), theirs in Python. Both sides have the same number of threads and wait for work
without spinning. Every interpreter given with --peer (besides /usr/bin/python3, which is Debian's)
is tried in both of PyTorch's layouts; its faster one then runs against ours in alternating rounds,
and the peer is the interpreter with the least median. With several builds (against oneDNN 2 and 3),
the faster counts and all are told. Beside medians stand the least rounds, the fastest of each side,
and their ratio, and the same of the processor's time that a step took over all threads, which other
work on the machine disturbs least. One JSON line a case, all at the end:

    {"case":"resnet18 b128","ours_ms":...,"ours_least_ms":...,"peer_ms":...,"peer_least_ms":...,
     "speedup":...,"speedup_least":...,"speedup_cpu":...,...}

minilm-LENGTH is a step of AdamW over texts of LENGTH tokens and no padding (bench_transformer and
bert_peer.py, which needs torch 2), -dropout one with dropout of .1.

`--table` prints them as Markdown too. Where other work took more than 0.2 of a core nothing is
printed and the exit status is 1 (quiet.py says what is measured); `--busy` prints all the same,
every line marked.

`--floor` demands the speed-ups the project promises and exits with 1 where one is missed.
"""
import argparse
import os
import statistics
import subprocess
import sys

import quiet

CASES = ["resnet18 b128", "resnet18 b39", "wrn-16-4 b128", "wrn-16-4 b39", "lenet5 b128"]
TEXTS = ["minilm-128", "minilm-256", "minilm-128-dropout", "minilm-256-dropout"]
FLOOR = {"resnet18": 1.0, "wrn-16-4": 1.0, "lenet5": 1.5, **{name: 1.0 for name in TEXTS}}  # of the faster build
EACH = {"resnet18": 0.95, "wrn-16-4": 0.95, "lenet5": 0, **{name: 0.95 for name in TEXTS}}  # of every build
COLUMNS = [("case", "case"), ("cull, median ms", "ours_ms"), ("least", "ours_least_ms"),
           ("PyTorch, median ms", "peer_ms"), ("least", "peer_least_ms"),
           ("speed-up of medians", "speedup"), ("of the least", "speedup_least"),
           ("of the processor's time", "speedup_cpu")]
LAYOUTS = ["contiguous", "channels_last"]
HERE = os.path.dirname(os.path.abspath(__file__))
TICK = 1e3 / os.sysconf("SC_CLK_TCK")

# Runs under the peer's interpreter: the same protocol as bench_step serve.
PEER = r"""
import sys, time
import torch
from torch import nn
from torch.nn import functional as F
name, batch, threads, layout = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
sys.path.insert(0, sys.argv[5])
torch.set_num_threads(threads)
torch.manual_seed(1)

class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)
    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))

def conv(i, o, k, s):
    return nn.Conv2d(i, o, k, s, k // 2, bias=False)

class Basic(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.conv1, self.bn1 = conv(i, o, 3, s), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = conv(o, o, 3, 1), nn.BatchNorm2d(o)
        self.skip = nn.Sequential(conv(i, o, 1, s), nn.BatchNorm2d(o)) if s > 1 or i != o else None
    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)), inplace=True)))
        return F.relu(y + (self.skip(x) if self.skip else x), inplace=True)

class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = conv(3, 64, 3, 1), nn.BatchNorm2d(64)
        widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
        self.blocks = nn.Sequential(*(Basic(i, o, 1 if i == o else 2)
                                      for i, o in zip(widths, widths[1:])))
        self.fc = nn.Linear(512, 10)
    def forward(self, x):
        x = self.blocks(F.relu(self.bn(self.conv(x)), inplace=True))
        return self.fc(x.mean((2, 3)))

class Wide(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.bn1, self.conv1 = nn.BatchNorm2d(i), conv(i, o, 3, s)
        self.bn2, self.conv2 = nn.BatchNorm2d(o), conv(o, o, 3, 1)
        self.skip = conv(i, o, 1, s) if i != o else None
    def forward(self, x):
        h = F.relu(self.bn1(x), inplace=True)
        y = self.conv2(F.relu(self.bn2(self.conv1(h)), inplace=True))
        return y + (self.skip(h) if self.skip else x)

class WRN(nn.Module):
    def __init__(self, n=2, k=4):
        super().__init__()
        self.conv, blocks, i = conv(3, 16, 3, 1), [], 16
        for stage, width in enumerate([16 * k, 32 * k, 64 * k]):
            for b in range(n):
                blocks.append(Wide(i, width, 2 if stage and not b else 1))
                i = width
        self.blocks, self.bn, self.fc = nn.Sequential(*blocks), nn.BatchNorm2d(i), nn.Linear(i, 10)
    def forward(self, x):
        x = F.relu(self.bn(self.blocks(self.conv(x))), inplace=True)
        return self.fc(x.mean((2, 3)))

if name.startswith("minilm"):
    import bert_peer
    length = int(name.split("-")[1])
    model = bert_peer.Bert(bert_peer.MINILM, 2, 0.1 if name.endswith("dropout") else 0.0)
    inputs = torch.arange(batch * length).view(batch, length) * 7919 % 30522, False
    label = torch.arange(batch) % 2
    optimizer = torch.optim.AdamW(model.decayed(0.01), lr=2e-5, fused=True)
else:
    model = {"lenet5": LeNet, "resnet18": ResNet18, "wrn-16-4": WRN}[name]()
    shape = (batch, 1, 28, 28) if name == "lenet5" else (batch, 3, 32, 32)
    x, label = torch.rand(shape) * 4 - 2, torch.arange(batch) % 10
    if layout == "channels_last":
        model = model.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last)
    inputs = x,
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
def step():
    begin = time.perf_counter()
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(model(*inputs), label).backward()
    optimizer.step()
    return 1e3 * (time.perf_counter() - begin)
for _ in range(2):
    step()
print(torch.__version__, sum(p.numel() for p in model.parameters()), flush=True)
for _ in sys.stdin:
    print(step(), flush=True)
"""

PARAMETERS = {"resnet18": 11173962, "wrn-16-4": 2748890, "lenet5": 61706,
              **{name: 22713986 for name in TEXTS}}


class Side:
    """A process that has warmed up and times one step whenever a line is sent."""

    def __init__(self, command, threads):
        environment = dict(os.environ, OMP_WAIT_POLICY="passive", GOMP_SPINCOUNT="0",
                           OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment)
        self.hello = self.process.stdout.readline().split()
        self.times, self.spent = [], []
        if not self.hello:
            sys.exit("vs_pytorch: %s does not answer" % " ".join(command[:1]))

    def cpu(self):
        """Milliseconds of the processor's time so far, of all its threads."""
        with open("/proc/%d/stat" % self.process.pid, encoding="utf-8") as file:
            field = file.read().rsplit(")", 1)[1].split()
        return TICK * (int(field[11]) + int(field[12]))

    def step(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def round(self):
        before = self.cpu()
        self.times.append(self.step())
        self.spent.append(self.cpu() - before)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start_peer(python, name, batch, threads):
    """The interpreter's faster layout, by three steps of each; None where there is no torch."""
    best, least = None, None
    needs = "torch.nn.functional.scaled_dot_product_attention" if name in TEXTS else "torch"
    if subprocess.run([python, "-c", "import torch; %s" % needs], capture_output=True).returncode:
        print("vs_pytorch: %s has no %s" % (python, needs), file=sys.stderr)
        return None
    for layout in LAYOUTS[:1] if name in TEXTS else LAYOUTS:
        side = Side([python, "-c", PEER, name, str(batch), str(threads), layout, HERE], threads)
        if int(side.hello[1]) != PARAMETERS[name]:
            sys.exit("vs_pytorch: %s has %s parameters there" % (name, side.hello[1]))
        side.label = "torch %s %s" % (side.hello[0], layout)
        fastest = min(side.step() for _ in range(3))
        if least is None or fastest < least:
            if best:
                best.close()
            best, least = side, fastest
        else:
            side.close()
    return best


def ours_command(build, name, batch, threads):
    if name not in TEXTS:
        return [os.path.join(build, "bench", "bench_step"), name, batch, str(threads), "serve"]
    if batch != "32":
        sys.exit("vs_pytorch: %s is timed with batches of 32" % name)
    return [os.path.join(build, "bench", "bench_transformer"), name.split("-")[1],
            "0.1" if name.endswith("dropout") else "0", str(threads), "serve"]


def run_case(case, options):
    """Medians and least rounds of both sides, which alternate; and whether the floor is met."""
    name, batch = case.split(" b")
    peers = [start_peer(python, name, int(batch), options.threads) for python in options.peer]
    peers = [peer for peer in peers if peer]
    if not peers:
        sys.exit("vs_pytorch: no interpreter has torch (tools/setup.sh bench)")
    ours = []
    for build in options.build:
        ours.append(Side(ours_command(build, name, batch, options.threads), options.threads))
        ours[-1].label = build
    for side in ours:
        side.step()
    for _ in range(options.rounds):
        for side in ours + peers:
            side.round()
    for side in ours + peers:
        side.close()
    fastest = min(ours, key=lambda side: statistics.median(side.times))
    peer = min(peers, key=lambda side: statistics.median(side.times))
    ours_ms, peer_ms = (statistics.median(side.times) for side in (fastest, peer))
    ours_least, peer_least = (min(min(side.times) for side in sides) for sides in (ours, peers))
    ours_cpu, peer_cpu = (min(min(side.spent) for side in sides) for sides in (ours, peers))
    result = {"case": case, "ours_ms": round(ours_ms, 2), "ours_least_ms": round(ours_least, 2),
              "peer_ms": round(peer_ms, 2), "peer_least_ms": round(peer_least, 2),
              "speedup": round(peer_ms / ours_ms, 3),
              "speedup_least": round(peer_least / ours_least, 3),
              "ours_cpu_ms": round(ours_cpu), "peer_cpu_ms": round(peer_cpu),
              "speedup_cpu": round(peer_cpu / ours_cpu, 3), "peer": peer.label,
              "threads": options.threads, "rounds": options.rounds,
              "sides": {side.label: {"median": round(statistics.median(side.times), 2),
                                     "least": round(min(side.times), 2)}
                        for side in ours + peers}}
    slowest = max(statistics.median(side.times) for side in ours)
    return result, result["speedup"] >= FLOOR[name] and peer_ms / slowest >= EACH[name]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", action="append", help="build directory (build)")
    parser.add_argument("--peer", action="append", default=["/usr/bin/python3"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--floor", action="store_true")
    parser.add_argument("case", nargs="*", default=CASES)
    quiet.add_options(parser)
    options = parser.parse_args()
    quiet.check_options(parser, options)
    for case in options.case:
        name, _, batch = case.partition(" b")
        if name not in FLOOR or not batch.isdigit():
            parser.error("no case '%s'; it is NAME bN, as '%s b32', with NAME one of %s"
                         % (case, TEXTS[0], ", ".join(FLOOR)))
    options.build = options.build or ["build"]
    meter = quiet.watch("vs_pytorch", options.busy)
    lines, met = [], []
    for case in options.case or CASES:
        line, reached = run_case(case, options)
        lines.append(line)
        met.append(reached)
        meter.mark()
    quiet.publish("vs_pytorch", lines, meter, options, COLUMNS)
    return 1 if options.floor and not all(met) else 0


if __name__ == "__main__":
    sys.exit(main())
