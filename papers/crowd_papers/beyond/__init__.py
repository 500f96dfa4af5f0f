"""What goes beyond the papers: competitive analysis, ladder, closed loop, aggregation, leaderboard.

`dynamic_program` computes the best online policy of a `crowd_models.online.OnlineProblem`, and what
is best offline; `minimax_program` proves for families of arrivals that no online algorithm has a
better competitive ratio, by Yao's principle, and finds the randomised policy that reaches it;
`posted_prices` says what greedy and posted prices pay at most; the program
`models/problems/check_policies.py` recomputes the proofs of both in exact fractions, by itself.
`instances` lists instances and families that were studied.
"""
