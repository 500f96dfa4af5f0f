"""A collection over HTTP (floor 7): people label in browsers, programs by JSON.

    workbench collect serve labels.sqlite --port 8000

`app` has the routes; `service` is the collection as one thread holds it; `links` are the secret
links, kept with all else that only serving needs in `beside`, a file next to the journal; `shown`
is what people see of tasks, `instructions` what the owner says of them, `owner` what she sees, and
`owner_view` is worked out by `owner_views` in a thread of its own. `limits` is what is refused,
`doorkeeper` how long and how often one may be connected, `lapses` when a question is open no more,
`cells` tables without formulas, `run` the server itself. `label_studio` is Label Studio's HTTP API,
`in_step` keeps a project there in step. Starlette and uvicorn are the extra `serve`; only the
command imports this package.
"""
