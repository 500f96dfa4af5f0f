"""The studies of online assignment policies: what they measure, and how they name the best."""

from __future__ import annotations

import pandas as pd
import pytest

from crowd_papers.beyond import assignment_policies
from crowd_papers.beyond.assignment_policies import best_policies
from tests.core.studies.study_runs import one_record, smoke
from workbench.assignment import POLICIES, SmallInstance, replay_bad_instance


class TestAssignmentPolicies:
    @pytest.mark.release
    def test_ratios_are_of_a_proven_bound_and_promises_stand_beside_them(self):
        table = smoke("assignment-policies")
        assert (table["bound_reached"] <= table["bound"] + 1e-6).all()
        assert (table["ratio_reached"] >= 1 - 1e-9).all()
        solved = table[table["solved"].astype(bool)]
        assert len(solved) > 10
        assert (solved["ratio"] >= 1 - 1e-9).all()
        assert (solved["covered"] == 1).all()
        assert (solved["ratio_solved"] == solved["ratio"]).all()
        assert (solved["repair"] == 0).all()
        unsolved = table[~table["solved"].astype(bool)]
        assert unsolved["ratio_solved"].isna().all()
        assert (unsolved["ratio_repaired"] > unsolved["ratio"]).all()
        met = table[table["arrival"] == "random"].groupby(["crowd", "repetition"])["bound"]
        assert (met.nunique() == 1).all()
        gold = table.set_index(["policy", "information"])["labels_gold"]
        assert (gold.xs("true", level=1) == 0).all()
        assert (gold["paper", "estimated"] == 20 * 3 * 60).all()  # the sample's 20 workers too
        assert (gold["greedy", "estimated"] == 20 * 3 * 40).all()
        assert set(table["guarantee"]) == {
            "Theorem 1",
            "Theorem 2",
            "Theorem 5",
            "order only",
            "none",
        }
        kept = table[table["promise"].notna()]
        assert (kept["ratio"] <= kept["promise"]).all()
        late = table[(table["policy"] == "paper") & (table["arrival"] == "worst_first")]
        assert late["void"].str.contains("not random").all()
        tables = assignment_policies.STUDY.analyse(table).tables
        promised = tables["Guarantees beside measured ratios"]
        order = promised.groupby("policy", sort=False)["stated"].first()
        assert order.to_dict() == {name: POLICIES[name].call.promise for name in POLICIES}

    @pytest.mark.release
    def test_within_its_conditions_theorem_2_stands_for_the_coverage_aware(self):
        record = one_record(
            "assignment-policies",
            policy="coverage-aware",
            tasks=5,
            workers=3000,
            gamma=1.0,
            epsilon=1e-200,
            delta=0.1,
            crowd="equal",
            types=1,
        )
        assert record["void"] == ""
        assert 1 <= record["ratio_reached"] <= record["promise"]


class TestBest:
    def made_up(self):
        rows = []
        for k, luck in enumerate((0.0, 0.5, 1.0, 0.2)):
            for policy, repaired, ratio, covered in (
                ("a", 1.2 + 0.01 * k, 1.0, 0.5),
                ("b", 1.3 + 0.01 * k, 1.25, 1.0),
                ("c", 1.5, 1.1, 0.995),
                ("hindsight", 1.0, 1.0, 1.0),
            ):
                rows.append(
                    {
                        "crowd": "x",
                        "policy": policy,
                        "repetition": k,
                        "ratio": ratio,
                        "covered": covered,
                        "ratio_repaired": repaired + luck,
                    }
                )
        return pd.DataFrame(rows)

    def best(self, table, policies="abc"):
        return best_policies(table, [], policies=list(policies)).iloc[0]

    def test_least_repaired_is_best_and_pairs_tell_it_apart(self):
        found = best_policies(self.made_up(), ["crowd"], policies=["a", "b", "c"]).iloc[0]
        assert found[["crowd", "best", "runner_up"]].tolist() == ["x", "a", "b"]
        assert found["behind"] == pytest.approx(0.1)
        assert found["behind_low"] == pytest.approx(0.1)  # the pairs share their luck
        assert found["told_apart"]
        # Fewest labels of those with 99 %.
        assert found[["covering", "covering_ratio"]].tolist() == ["c", 1.1]
        alone = self.best(self.made_up(), "a")
        assert alone[["best", "runner_up", "covering"]].tolist() == ["a", "none", "none"]
        assert not alone["told_apart"]

    def test_who_could_not_be_repaired_does_not_compete_and_equals_are_named(self):
        table = self.made_up()
        same = pd.concat([table, table[table["policy"] == "a"].assign(policy="d")])
        found = self.best(same.reset_index(drop=True), "abcd")
        assert found[["best", "alike", "runner_up"]].tolist() == ["a", "d", "b"]
        assert found["behind"] == pytest.approx(0.1)
        table.loc[(table["policy"] == "a") & (table["repetition"] == 1), "ratio_repaired"] = None
        assert self.best(table)["best"] == "b"


class TestBadInstances:
    @pytest.mark.release
    def test_the_worst_instance_can_be_replayed(self):
        table = smoke("bad-instances")
        found = table[table["score"].notna()]
        assert len(found) > 5
        for row in found.to_dict("records"):
            again = replay_bad_instance(
                SmallInstance.read(row["instance"]), row["policy"], row["order"], row["replay_seed"]
            )
            assert again.ratio == pytest.approx(row["ratio"], abs=1e-12)
            assert again.covered == pytest.approx(row["covered"], abs=1e-12)
            assert again.score(row["aim"]) == pytest.approx(row["score"], abs=1e-12)
