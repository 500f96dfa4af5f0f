# The studies behind audit.md: sh docs/findings/audit.sh (`--size paper` has more audits and settings, and takes hours).
set -e
set -- --size smoke --set workers=24 --set price=5 --store audit.sqlite
CROWDS=bluebird,face,music_genre,product,rte,sat12,sentence_polarity,sentiment,sp_amt,weather_amt,web,zencrowd_us
workbench study run audit "$@" --set question=promise --set tasks=50,200 --set error=0.05,0.1 --set excess=one,quarter \
  --set belief=informative,zero,reversed,adversarial --set "crowd=one is copied" --set runs=1000
set -- "$@" --set excess=one --set belief=flat
workbench study run audit "$@" --set question=cost --set tasks=50 --set "crowd=one is copied" \
  --set data=$CROWDS --set labels=3,none --set error=0.05,0.1 --set runs=30
workbench study run audit "$@" --set question=share --set tasks=50 --set "crowd=one is copied" \
  --set data=$CROWDS --set labels=3 --set error=0.1 --set runs=4
workbench study run audit "$@" --set question=loop --set tasks=60 --set error=0.05 --set runs=6 \
  --set "crowd=one is copied,half .8,half .7,uniform,drift,rare class,unequal tasks,confusable,groups copy,always wrong"
workbench study report audit --store audit.sqlite
