# SPDX-FileCopyrightText: 2026 the ZipMPI authors
# SPDX-License-Identifier: BSD-3-Clause
"""Several nodes on this machine, by an agent that starts everything here. Needs no rights."""
from harness import EXCHANGE, LOCAL_AGENT, Case, main, run


class Nodes(Case):
    def nodes(self, *args, **kw):
        return run("--launch-agent", LOCAL_AGENT, *args, **kw)

    def test_every_rank_knows_its_node(self):
        r = self.nodes("-n", 5, "--host", "a:2,b:3", "sh", "-c",
                       'echo "$PMI_RANK/$PMI_SIZE $ZIPMPI_NODE_INDEX/$ZIPMPI_NODES $MPI_LOCALRANKID/$MPI_LOCALNRANKS"')
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["0/5 0/2 0/2", "1/5 0/2 1/2", "2/5 1/2 0/3", "3/5 1/2 1/3", "4/5 1/2 2/3"])

    def test_map_by_node_and_no_count(self):
        r = self.nodes("--map-by", "node", "--host", "a:2,b:3", "sh", "-c", 'echo "$PMI_RANK $ZIPMPI_NODE_INDEX"')
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["0 0", "1 1", "2 0", "3 1", "4 1"])

    def test_values_cross_nodes_in_trees_of_any_shape(self):
        for width in (1, 2, 3, 32):
            r = self.nodes("-n", 14, "--launch-width", width, "--host", ",".join(f"h{i}:2" for i in range(7)), EXCHANGE)
            self.quiet(r)
            self.assertEqual(len(r.out.splitlines()), 14, r)

    def test_slurm_and_pbs_name_the_hosts(self):
        r = self.nodes("sh", "-c", "echo $PMI_RANK $ZIPMPI_NODE_INDEX",
                       env={"SLURM_JOB_NODELIST": "n[08-09],m", "SLURM_TASKS_PER_NODE": "1(x2),2"})
        self.quiet(r)
        self.assertEqual(sorted(r.out.splitlines()), ["0 0", "1 1", "2 2", "3 2"])

    def test_an_agent_that_fails_is_named(self):
        r = run("-n", 2, "--host", "a,b", "--launch-agent", "sh -c 'echo no such host >&2; exit 3'", "true")
        self.assertEqual(r.code, 1)
        self.assertIn("no such host", r.err)
        self.assertIn("exited with status 3", r.err)

    def test_input_and_exit_status(self):
        r = self.nodes("-n", 4, "--host", "a:2,b:2", "sh", "-c", 'test $PMI_RANK = 0 && cat; test $PMI_RANK = 3 && sleep 0.5 && exit 7; sleep 30',
                       stdin="one\ntwo\n")
        self.assertEqual(r.code, 7, r)
        self.assertEqual(r.out, "one\ntwo\n")
        self.assertEqual(r.err.count("mpiexec: "), 1, r)
        self.assertLess(r.seconds, 5)


if __name__ == "__main__":
    main()
