"""How much other work a machine did while something was timed, and what may then be printed.

Measured is the CPU time of the whole machine (/proc/stat: all but idle and waiting for disks, with
what a hypervisor gave to its other guests) less that of this process and of all its descendants
(/proc/PID/stat, ended children included), over the whole run, in cores. Timings taken beside more
than MOST cores of other work are not printed: the sides of a comparison do not suffer alike.
"""
import json
import os
import sys
import time

MOST = 0.2      # cores
STRETCH = 2.0   # seconds over which it is averaged at least: shorter ones are the clock's noise


def machine(root="/proc"):
    """Seconds of CPU time that the whole machine has spent."""
    with open(os.path.join(root, "stat"), encoding="ascii") as file:
        field = [int(text) for text in file.readline().split()[1:9]]
    user, nice, system, _, _, irq, softirq, steal = field
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def processes(root="/proc"):
    """{pid: (parent, seconds of its own and of its ended children)}"""
    found = {}
    for name in os.listdir(root):
        if not name.isdigit():
            continue
        try:
            with open(os.path.join(root, name, "stat"), encoding="utf-8", errors="replace") as file:
                field = file.read().rsplit(")", 1)[1].split()  # a name may hold anything
        except OSError:
            continue  # it has ended since
        ticks = sum(int(text) for text in field[11:15])
        found[int(name)] = int(field[1]), ticks / os.sysconf("SC_CLK_TCK")
    return found


def family(pid, root="/proc"):
    """Seconds that a process and all its descendants have spent."""
    found = processes(root)
    members, grown = {pid}, True
    while grown:
        more = {one for one, (parent, _) in found.items() if parent in members} - members
        members, grown = members | more, bool(more)
    return sum(found[one][1] for one in members if one in found)


def reading():
    """(time, the machine's CPU time, ours)"""
    return time.monotonic(), machine(), family(os.getpid())


class Meter:
    """The load of others, stretch by stretch."""

    def __init__(self, read=None):
        self.read = read or reading
        self.began = self.before = self.read()
        self.loads = []

    @staticmethod
    def load(begin, end):
        wall, busy, ours = (b - a for a, b in zip(begin, end))
        return max(0.0, (busy - ours) / wall) if wall > 0 else 0.0

    def mark(self):
        """End a stretch here, if it is long enough to tell."""
        now = self.read()
        if now[0] - self.began[0] < STRETCH:
            return
        self.loads.append(self.load(self.began, now))
        self.before, self.began = self.began, now

    def worst(self):
        """The highest load of any stretch; what is left at the end joins the last one."""
        now = self.read()
        whole = now[0] - self.began[0] >= STRETCH or not self.loads
        return max(self.loads + [self.load(self.began if whole else self.before, now)])


def watch(program, busy, seconds=STRETCH):
    """A meter that has looked at the machine before anything is started; it ends the program where
    that is in vain already."""
    meter = Meter()
    time.sleep(seconds)
    refuse(program, meter.worst(), busy)
    meter.mark()
    return meter


def refuse(program, load, busy):
    if load > MOST and not busy:
        sys.exit("%s: the load of others was %.2f cores, more than %.1f (the machine's CPU time less "
                 "this program's and its children's), so nothing is printed; run it on an idle "
                 "machine, or with --busy for lines that say so" % (program, load, MOST))


def publish(program, lines, meter, options, columns):
    """Print one JSON line a case and, if asked for, a table; neither beside other work, unless
    --busy marks every line."""
    load = meter.worst()
    refuse(program, load, options.busy)
    for line in lines:
        line["others"] = round(load, 2)
        if options.busy:
            line["busy"] = "taken on a busy machine"
        print(json.dumps(line), flush=True)
    if options.table:
        print("\n| %s |\n|%s" % (" | ".join(title for title, _ in columns), "---|" * len(columns)))
        for line in lines:
            print("| %s |" % " | ".join(str(line[key]) for _, key in columns))


def add_options(parser):
    parser.add_argument("--busy", action="store_true",
                        help="print although others work on the machine, every line marked")
    parser.add_argument("--table", action="store_true", help="print a Markdown table as well")


def check_options(parser, options):
    if options.busy and (options.table or options.floor):
        parser.error("--busy goes with neither --table nor --floor: such figures prove nothing")
