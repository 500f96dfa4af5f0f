/* Verify a proof of an assignment problem: verify PROBLEM.json PROOF.json.

   Build: cc -O2 -o verify verify.c -lm. Answers one line, "holds: ..." (exit 0) or "WRONG: ..."
   (exit 1), as check.py does, and shares nothing with it but the format that it reads: other
   language, other arithmetic, another way to price a task. What is beyond this arithmetic, and may
   hold all the same, is "UNDECIDED: ..." (exit 2).

   The problem: least cost sum c_ij y_ij of whole y_ij in {0, 1}, so that worker j labels at most
   M_j tasks, and the labels of task i, between L_i and U_i of them, gather q_ij to its requirement
   C_i but for one part in 10^9. By class, task and worker stand for several.

   The bound: at prices u >= 0 of workers and mu >= 0 of the sides of splits above a leaf, no plan
   on these sides costs less than sum_i P_i - sum_j M_j u_j - sum_s mu_s b_s. P_i is the least that
   labels of task i cost where each is charged u_j and, by each side that it counts for, +mu or -mu.

   Arithmetic: 128-bit whole numbers; what would not fit ends in "UNDECIDED: too large a number", so
   nothing wraps. Prices count in parts of 1/D, with D the least common denominator where that is
   at most 10^12, or more where 128 bits have room for more. Otherwise D is the most that they have
   room for, u and mu are rounded (any prices prove something), costs rounded down. Covers count in
   some 10^-15 of the requirement, labels' worth rounded up. So each P_i is the true one or, by
   roundings that only lower it, less. */

#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 I;
#define MOST_ENTRIES 1000000 /* of a list */
#define DEEPEST 200          /* splits above one another */
#define NODES 20000          /* of a tree */
#define STATES 4000000       /* of the pricing of a task; beyond, its linear bound stands */
#define BILLION ((I)1000000000)
#define GRID (1000 * BILLION)
#define LARGEST (1000 * GRID) /* of any number */

/* ---- the one way out ---- */

static jmp_buf out;
static char why[200];

static _Noreturn void ended(const char *verdict, const char *words, int code) {
  snprintf(why, sizeof why, "%s: %s", verdict, words);
  longjmp(out, code);
}
static _Noreturn void wrong(const char *words) { ended("WRONG", words, 1); }
static void require(int holds, const char *words) {
  if (!holds) wrong(words);
}
static void able(int fits, const char *words) { /* or nothing can be said here */
  if (!fits) ended("UNDECIDED", words, 2);
}
static void *room(size_t many, size_t size) { /* all of it zero */
  void *at = calloc(many ? many : 1, size);
  return at ? at : (wrong("no memory left"), at);
}

/* ---- whole numbers that refuse to wrap ---- */

static I large(void) { ended("UNDECIDED", "too large a number", 2); }
static I add(I a, I b) { return __builtin_add_overflow(a, b, &a) ? large() : a; }
static I mul(I a, I b) { return __builtin_mul_overflow(a, b, &a) ? large() : a; }
static I power(int ten) { return ten > 0 ? mul(10, power(ten - 1)) : 1; }
static I gcd(I a, I b) { return b ? gcd(b, a % b) : a < 0 ? -a : a; }
static I down(I a, I b) { return a / b - (a % b < 0); } /* floor of a / b, b > 0 */
static I up(I a, I b) { return down(a, b) + (a % b != 0); }

static int compared(I a, I b, I c, I d) { /* sign of a / b - c / d; b, d > 0, none below 0 */
  for (int sign = 1;; sign = -sign) { /* by whole parts, then by what is left turned over */
    I x = a / b, y = c / d, p = a % b, q = c % d;
    if (x != y) return x < y ? -sign : sign;
    if (!p || !q) return p ? sign : q ? -sign : 0;
    a = b, b = p, c = d, d = q;
  }
}

/* ---- SHA-256 (FIPS 180-4) ---- */

static uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

static uint32_t bits(double root) { /* the first 32 of what is not whole: a double has 53 */
  return (uint32_t)((root - floor(root)) * 4294967296.0);
}

static void sha256(const unsigned char *data, size_t size, char *hex) {
  uint32_t h[8], k[64], w[64] = {0}, v[8];
  size_t padded = (size + 72) / 64 * 64;
  unsigned char *text = memcpy(room(padded, 1), data, size);
  for (int n = 0, p = 2, d; n < 64; p++) {
    for (d = 2; d < p && p % d; d++) continue;
    if (d < p) continue; /* no prime number */
    if (n < 8) h[n] = bits(sqrt(p));
    k[n++] = bits(cbrt(p));
  }
  text[size] = 0x80;
  for (size_t i = 0; i < 8; i++) text[padded - 1 - i] = (unsigned char)(8 * (uint64_t)size >> 8 * i);
  for (size_t at = 0; at < padded; at += 64) {
    for (int i = 0; i < 64; i++) w[i / 4] = w[i / 4] << 8 | text[at + (size_t)i];
    for (int i = 16; i < 64; i++) {
      uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] +
             (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
      uint32_t a = v[0], e = v[4];
      uint32_t s = v[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
                   ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
      uint32_t t = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) +
                   ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
      memmove(v + 1, v, 7 * sizeof *v);
      v[0] = s + t, v[4] += s;
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
  }
  free(text);
  for (int i = 0; i < 8; i++) sprintf(hex + 8 * i, "%08x", h[i]);
}

/* ---- JSON, strictly ---- */

typedef struct Value { /* 'n'umber: top / 10^places; 's'tring: text; 'l'ist and 't'able: values */
  char kind, whole;    /* beside these kinds 'T'rue, 'F'alse, '0' for null */
  int places;
  I top;
  long many;
  struct Value *of;
  char *text, *name; /* its name in a table */
} Value;

typedef struct {
  const unsigned char *at, *end;
  int canonical; /* no blanks, names in order, numbers whole */
} Reader;

static int peek(Reader *r) { return r->at < r->end ? *r->at : -1; }
static void blanks(Reader *r) {
  while (!r->canonical && r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at) r->at++;
}
static int take(Reader *r, int byte) {
  return peek(r) == byte && r->at++;
}

static char *string(Reader *r) {
  require(take(r, '"'), "no name where one belongs");
  const unsigned char *from = r->at;
  for (; peek(r) != '"'; r->at++)
    require(peek(r) >= 32 && peek(r) < 127 && peek(r) != '\\',
            "a text without an end, or of other letters than plain ASCII");
  size_t size = (size_t)(r->at++ - from);
  return memcpy(room(size + 1, 1), from, size);
}

static long run(Reader *r, Value *v) { /* of digits, put after those of v */
  const unsigned char *from = r->at;
  for (; peek(r) >= '0' && peek(r) <= '9'; r->at++) v->top = add(mul(v->top, 10), *r->at - '0');
  require(r->at > from, "no number where one belongs, or one below 0");
  require(r->at == from + 1 || *from != '0' || v->places, "a number that begins with 0");
  return r->at - from;
}

static void number(Reader *r, Value *v) { /* 12, 1.5, 2e-07 */
  Value e = {0};
  run(r, v);
  v->whole = 1;
  if (take(r, '.')) v->whole = 0, v->places = 1, v->places = (int)run(r, v);
  if (take(r, 'e') || take(r, 'E')) {
    int sign = take(r, '-') ? 1 : (take(r, '+'), -1);
    v->whole = 0, e.places = 1, run(r, &e);
    require(e.top < 100, "a number of too large a power");
    v->places += sign * (int)e.top;
  }
  require(v->whole || !r->canonical, "a number that is not whole");
  for (; v->places < 0; v->places++) v->top = v->top ? mul(v->top, 10) : 0;
  for (; v->places > 0 && v->top % 10 == 0; v->places--) v->top /= 10;
  able(v->places <= 38, "a number of too many digits");
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const Value *)a)->name, ((const Value *)b)->name);
}

static Value value(Reader *r, int depth) {
  static const char *words[] = {"true", "false", "null"};
  Value v = {0};
  require(depth < 900, "nested too deep");
  blanks(r);
  int c = peek(r);
  if (c == '"') return v.kind = 's', v.text = string(r), v;
  for (int i = 0; i < 3; i++) {
    size_t size = strlen(words[i]);
    if ((size_t)(r->end - r->at) >= size && !memcmp(r->at, words[i], size))
      return r->at += size, v.kind = "TF0"[i], v;
  }
  if (c != '[' && c != '{') return v.kind = 'n', number(r, &v), v;
  int end = c == '[' ? ']' : '}', more;
  r->at++, v.kind = c == '[' ? 'l' : 't';
  blanks(r);
  for (more = !take(r, end); more; more = take(r, ',')) {
    char *name = NULL;
    require(v.many < MOST_ENTRIES, "too many entries");
    if (!(v.many & (v.many - 1))) v.of = realloc(v.of, (size_t)(2 * v.many + 1) * sizeof *v.of);
    require(v.of != NULL, "no memory left");
    blanks(r);
    if (end == '}') {
      name = string(r);
      blanks(r);
      require(take(r, ':'), "a name without a value");
      require(!r->canonical || !v.many || strcmp(v.of[v.many - 1].name, name) < 0,
              "names not in order");
    }
    v.of[v.many] = value(r, depth + 1);
    v.of[v.many++].name = name;
    blanks(r);
  }
  require(!v.many || take(r, end), "a list or table without an end");
  if (end == '}' && v.many) qsort(v.of, (size_t)v.many, sizeof *v.of, by_name);
  for (long i = 1; end == '}' && i < v.many; i++)
    require(strcmp(v.of[i - 1].name, v.of[i].name) != 0, "a name stands twice in a table");
  return v;
}

static Value parsed(Reader r, int canonical) {
  r.canonical = canonical;
  Value v = value(&r, 0);
  require(!canonical || take(&r, '\n'), "no line end");
  blanks(&r);
  require(r.at == r.end, "more than one value");
  return v;
}

static Value *get(const Value *v, const char *name) { /* NULL where there is none */
  Value key = {0};
  key.name = (char *)name;
  require(v && v->kind == 't', "no table where one belongs");
  return v->many ? bsearch(&key, v->of, (size_t)v->many, sizeof key, by_name) : NULL;
}
static const Value *list(const Value *v, long many) { /* of so many; -1: of any number */
  require(v && v->kind == 'l', "no list where one belongs");
  require(many < 0 || v->many == many, "a list of another length");
  return v;
}

static int is(const Value *v, const char *text) {
  return v && v->kind == 's' && !strcmp(v->text, text);
}

/* ---- numbers ---- */

typedef struct { /* top / base, base > 0 */
  I top, base;
} Ratio;

static I count(const Value *v, I most) { /* a whole number */
  require(v && v->kind == 'n' && v->whole, "no whole number where one belongs");
  require(v->top <= most, "too large a number");
  return v->top;
}
static const Value *plain(const Value *v, I most) { /* any number */
  require(v && v->kind == 'n', "no number where one belongs");
  require(compared(v->top, power(v->places), most, 1) <= 0, "too large a number");
  return v;
}

static Ratio ratio(const Value *v) { /* a whole number, or "a/b" in lowest terms */
  if (!v || v->kind != 's') return (Ratio){count(v, LARGEST), 1};
  const unsigned char *text = (const unsigned char *)v->text;
  Reader r = {text, text + strlen(v->text), 1};
  Value a = {0}, b = {0};
  require(run(&r, &a) <= 30 && take(&r, '/') && run(&r, &b) <= 30 && r.at == r.end, "no fraction");
  require(b.top > 1 && gcd(a.top, b.top) == 1, "no fraction in lowest terms");
  require(a.top / b.top < LARGEST, "too large a number");
  return (Ratio){a.top, b.top};
}

/* ---- the problem ---- */

typedef struct { /* rows as the file has them, so tasks alike share them; fields without gaps */
  Value *quality, *cost, *free;
  long kind;
  I need, base, least, most; /* the requirement is need / base */
} Task;

static struct {
  long tasks, workers;
  Task *task;
  I *times, *copies, *capacity, step; /* all prices are multiples of step / 10^places */
  I highest;                          /* the largest of them */
  int skill, digits, places;          /* after the point: of labels' worth, of prices */
} P;

static char *shown(I n, char *to) { /* 40 bytes */
  char *at = to + 39;
  for (*at = 0; n > 0 || !*at; n /= 10) *--at = (char)('0' + (int)(n % 10));
  return at;
}

static I scaled(const Value *v, int digits) { return mul(v->top, power(digits - v->places)); }
static I worth(const Task *t, long j) { /* of a label, in 1 / 10^P.digits */
  if (!P.skill) return scaled(t->quality->of + j, P.digits);
  I skill = 2 * scaled(t->quality->of + j, P.digits / 2) - power(P.digits / 2);
  return mul(skill, skill);
}
static I price_of(const Task *t, long j) { /* in 1 / 10^P.places */
  return t->cost ? scaled(t->cost->of + j, P.places) : power(P.places);
}
static int allowed(const Task *t, long j) {
  const Value *v = t->free ? t->free->of + j : NULL;
  return !v || v->kind == 'T' || (v->kind == 'n' && v->top == 1);
}

static Value *row_of(Value *field, const Value *types, long i) {
  if (!field) return NULL;
  if (field->kind == 't') {
    require(types != NULL, "rows by type, and no task_types");
    const Value *type = types->of + i;
    char number[40];
    field = get(field, type->kind == 's' ? type->text : shown(count(type, LARGEST), number));
    require(field != NULL, "a type without a row");
  } else if (list(field, -1)->many && field->of[0].kind == 'l') {
    field = list(field, P.tasks)->of + i;
  }
  return list(field, -1), field;
}

static void checked(Value *row, I most, int *digits) { /* numbers to `most`; true and false to 0 */
  if (!row || row->whole) return; /* nothing, or read before: many tasks share one */
  list(row, P.workers), row->whole = 1;
  for (Value *v = row->of; v < row->of + P.workers; v++) {
    if (!most && v->kind != 'T' && v->kind != 'F') count(v, 1);
    if (most && plain(v, most)->places > *digits) *digits = v->places;
  }
}

static const Value *each(const Value *field, long i, long size) { /* one for all, or one each */
  return field && field->kind == 'l' ? list(field, size)->of + i : field;
}

static void asks(Task *t, const Value *requirement, const Value *epsilon) {
  const Value *v = plain(epsilon ? epsilon : requirement, epsilon ? 1 : LARGEST);
  t->need = v->top, t->base = power(v->places);
  if (epsilon) { /* 2 ln(1/e), the double nearest to it, is a fraction */
    char number[40], text[60];
    int e;
    require(v->top > 0, "an epsilon of 0");
    snprintf(text, sizeof text, "%se-%d", shown(v->top, number), v->places);
    double half = frexp(-2 * log(strtod(text, NULL)), &e);
    able(half <= 0 || e > -40, "too small a requirement");
    t->need = half > 0 ? (I)ldexp(half, 53) : 0;
    t->base = half > 0 ? (I)1 << (53 - e) : 1;
  }
  able(t->need >> 97 == 0 && t->base >> 97 == 0, "a requirement of too many digits");
}

static int by_kind(const void *a, const void *b) {
  const Task *x = *(Task *const *)a, *y = *(Task *const *)b;
  int rows = memcmp(x, y, offsetof(Task, kind));
  return rows ? rows : memcmp(&x->need, &y->need, 4 * sizeof(I));
}

static void read_problem(Value *raw) {
  static const char *names[] = {"skill", "quality", "epsilon", "requirement", "capacity",
                                "cost", "available", "task_types", "tasks", "workers",
                                "least", "most", "gain"};
  Value *field[13];
  long known = 0;
  for (int k = 0; k < 13; k++) known += (field[k] = get(raw, names[k])) != NULL;
  require(known == raw->many, "a field of another name");
  require(!field[0] != !field[1] && !field[2] != !field[3] && field[4],
          "give skill or quality, epsilon or requirement, and capacity");
  Value *quality = field[0] ? field[0] : field[1], *types = field[7], *gain = field[12];
  require(!gain || (field[1] && field[3]) || is(gain, "hoeffding"),
          "other gains state quality and requirement");
  P.skill = field[0] != NULL, P.tasks = list(types ? types : quality, -1)->many;
  require(P.tasks > 0, "no tasks");
  P.workers = row_of(quality, types, 0)->many;
  require(P.workers > 0, "no workers");
  P.task = room((size_t)P.tasks, sizeof *P.task), P.times = room((size_t)P.tasks, sizeof(I));
  P.copies = room((size_t)P.workers, sizeof(I)), P.capacity = room((size_t)P.workers, sizeof(I));
  Task **order = room((size_t)P.tasks, sizeof *order);
  for (long i = 0; i < P.tasks; i++) {
    Task *t = order[i] = P.task + i;
    t->quality = row_of(quality, types, i), t->cost = row_of(field[5], types, i);
    t->free = row_of(field[6], types, i);
    require(t->quality != quality && (!t->free || t->free != field[6]), "no row for each task");
    checked(t->quality, P.skill ? 1 : LARGEST, &P.digits), checked(t->cost, LARGEST, &P.places);
    checked(t->free, 0, NULL);
    asks(t, each(field[3], i, P.tasks), each(field[2], i, P.tasks));
    t->least = field[10] ? count(each(field[10], i, P.tasks), LARGEST) : 0;
    t->most = field[11] ? count(each(field[11], i, P.tasks), LARGEST) : LARGEST + 1;
    P.times[i] = field[8] ? count(list(field[8], P.tasks)->of + i, LARGEST) : 1;
  }
  for (long j = 0; j < P.workers; j++) {
    P.copies[j] = field[9] ? count(list(field[9], P.workers)->of + j, LARGEST) : 1;
    P.capacity[j] = count(each(field[4], j, P.workers), LARGEST);
  }
  qsort(order, (size_t)P.tasks, sizeof *order, by_kind);
  P.digits *= 1 + P.skill; /* a worth is a square then */
  able(P.digits <= 38, "a number of too many digits");
  for (long i = 0, kind = 0; i < P.tasks; order[i++]->kind = kind) {
    int another = !i || by_kind(order + i, order + i - 1);
    kind += another;
    for (long j = 0; another && j < P.workers; j++)
      if (allowed(order[i], j)) {
        I price = price_of(order[i], j);
        P.step = gcd(P.step, price), P.highest = price > P.highest ? price : P.highest;
      }
  }
  free(order);
}

/* ---- the plan ---- */

static I cost_of(const Value *labels, const Value *patterns) { /* in 1 / 10^P.places */
  I cost = 0, *done = room((size_t)P.tasks, sizeof(I)), *used = room((size_t)P.workers, sizeof(I));
  const Value *rows = list(labels ? labels : patterns, -1);
  require(!labels || rows->many <= P.tasks, "more lists of workers than tasks");
  char *has = room((size_t)P.workers, 1), number[40];
  for (long r = 0; r < rows->many; r++) {
    const Value *those = rows->of + r;
    long i = labels ? r : (long)count(list(those, 3)->of, P.tasks - 1);
    I times = labels ? 1 : count(those->of + 2, P.times[i]), many = 0, cover = 0;
    const Task *t = P.task + i;
    those = labels ? list(those, -1) : those->of + 1;
    require(labels || those->kind == 't', "no table of workers");
    for (const Value *worker = those->of; worker < those->of + those->many; worker++) {
      long j = labels ? (long)count(worker, P.workers - 1) : strtol(worker->name, NULL, 10);
      require(labels || (j >= 0 && j < P.workers && !strcmp(shown(j, number), worker->name)),
              "no worker of that name");
      I copies = labels ? 1 : count(worker, LARGEST);
      require(copies <= P.copies[j] && !(labels && has[j]), "a worker twice on a task");
      require(allowed(t, j), "a task is not for a worker");
      has[j] = 1, many = add(many, copies), used[j] = add(used[j], mul(copies, times));
      cover = add(cover, mul(copies, worth(t, j)));
      cost = add(cost, mul(mul(copies, times), price_of(t, j)));
    }
    memset(has, 0, (size_t)P.workers);
    require(compared(cover, power(P.digits), mul(t->need, BILLION - 1), mul(t->base, BILLION)) >= 0,
            "a task is not covered");
    require(t->least <= many && many <= t->most, "a task has too many labels, or few");
    done[i] = add(done[i], times);
  }
  require(!memcmp(done, P.times, (size_t)P.tasks * sizeof *done), "tasks are left out");
  for (long j = 0; j < P.workers; j++)
    require(used[j] <= mul(P.copies[j], P.capacity[j]), "a worker has too many tasks");
  return cost;
}

/* ---- the least price of a task ---- */

static int rounded; /* whether prices were, so that a tree may prove more than is found here */
static I parts(I top, I base, I D) { /* of 1 / D, rounded down */
  top = mul(top, D), rounded |= top % base != 0;
  return down(top, base);
}

typedef struct { /* labels that are taken together: what they add to the cover, their price */
  I w, a, many, loss;
} Lot;
typedef struct { /* a choice of lots: its cover, its price, and its labels where they count */
  I c, p;
  long k;
} State;

static int by_rate(const void *x, const void *y) { /* price by cover; those of none first */
  const Lot *s = x, *t = y;
  I d = s->a * t->w - t->a * s->w;
  if (!d) d = s->w != t->w ? s->w - t->w : s->a - t->a;
  return d < 0 ? -1 : d > 0;
}
static int by_loss(const void *x, const void *y) {
  const Lot *s = x, *t = y;
  return s->loss > t->loss ? -1 : s->loss < t->loss;
}

/* Each lot is in or out, and first as the rate v = top / base has it best: in if a < v w. So every
   state is a whole choice. One that is turned costs its loss |a - v w| more in price + v (W - c),
   which no choice that covers W exceeds by its price; so a state is of use only while that is less
   than the least price so far. Turned are the lots of the largest loss first. */
static int least_price(const Task *t, const I *charge, I D, int priced, I *result) {
  I whole = t->need / t->base, rest = t->need % t->base, W, prices = 1, covers = 0, reach = 0;
  int scale = 0, limited = t->least > 0 || t->most <= LARGEST;
  long many = 0;
  Lot *lots = room((size_t)P.workers * 64, sizeof *lots);
  for (; t->need && whole < LARGEST; scale++) /* the requirement in units of 10^-scale */
    whole = whole * 10 + rest * 10 / t->base, rest = rest * 10 % t->base;
  W = down(mul(whole, BILLION - 1), BILLION);
  able(scale - P.digits < 38, "too small a requirement");
  for (long j = 0; j < P.workers; j++) {
    if (!allowed(t, j) || !P.copies[j] || !P.capacity[j]) continue;
    I q = worth(t, j), n = P.copies[j], w = scale < P.digits ? up(q, power(P.digits - scale)) : W;
    if (scale >= P.digits && __builtin_mul_overflow(q, power(scale - P.digits), &w)) w = W;
    if (w > W) w = W;
    I a = add(charge[j], priced ? parts(price_of(t, j), power(P.places), D) : 0);
    if (!limited && a >= 0 && n > (w ? up(W, w) : 0)) n = w ? up(W, w) : 0; /* more are of no use */
    prices = add(prices, mul(a < 0 ? -a : a, n)), covers = add(covers, mul(w, n));
    for (I part = 1; n > 0; n -= part, part *= 2) { /* 1, 2, 4, ..., the rest */
      if (part > n) part = n;
      lots[many++] = (Lot){w * part, a * part, part, 0};
    }
  }
  mul(4, mul(prices, add(W, covers))); /* no product below is larger */
  if (covers < W) return free(lots), 0;
  qsort(lots, (size_t)many, sizeof *lots, by_rate);
  I top = 0, base = 1, best = prices, bought = 0, labels = 0; /* more than any choice costs */
  State start = {0, 0, 0};
  for (long k = 0; k < many; k++) { /* the cheapest cover first tells the rate, and a choice */
    if (reach >= W && lots[k].a >= 0) continue;
    if (lots[k].a > 0) top = lots[k].a, base = lots[k].w;
    reach += lots[k].w, bought += lots[k].a;
  }
  if (!limited) best = bought;
  for (Lot *lot = lots; lot < lots + many; lot++) {
    I gain = top * lot->w - lot->a * base;
    lot->loss = gain < 0 ? -gain : gain, labels += limited * lot->many;
    able(labels < 10 * MOST_ENTRIES, "too large a number");
    if (gain <= 0) continue;
    start.c += lot->w, start.p += lot->a, start.k += limited * (long)lot->many;
    lot->w = -lot->w, lot->a = -lot->a, lot->many = -lot->many;
  }
  if (start.c >= W && start.k >= t->least && start.k <= t->most && start.p < best) best = start.p;
  qsort(lots, (size_t)many, sizeof *lots, by_loss);
  I *most = room((size_t)labels + 1, sizeof(I)); /* cover so far, by labels */
  State *old = room(STATES, sizeof *old), *new = room(2 * STATES, sizeof *new);
  long size = 1;
  old[0] = start;
  for (long k = 0; k < many && size <= STATES; k++) { /* each with a lot turned or not, by price */
    long kept = 0;
    for (long l = 0; l <= labels; l++) most[l] = -1;
    for (long x = 0, y = 0; x < size || y < size;) {
      State s = old[x < size ? x : 0], turned = old[y < size ? y : 0];
      turned.c += lots[k].w, turned.p += lots[k].a, turned.k += limited * (long)lots[k].many;
      int next = x == size || (y < size && (turned.p < s.p || (turned.p == s.p && turned.c > s.c)));
      s = next ? turned : s, x += !next, y += next;
      if (s.c >= W && s.k >= t->least && s.k <= t->most && s.p < best) best = s.p;
      if (s.c <= most[s.k] || s.p * base + top * (W - s.c) >= best * base) continue;
      most[s.k] = s.c, new[kept++] = s;
    }
    if (kept <= STATES) memcpy(old, new, (size_t)kept * sizeof *old);
    size = kept;
  }
  rounded |= size > STATES;
  *result = size > STATES ? up(start.p * base + top * (W - start.c), base) : best;
  free(lots), free(most), free(old), free(new);
  return size > STATES || best < prices;
}

/* ---- trees of splits ---- */

static struct { /* the sides above a leaf: labels that count, sign * their number <= limit */
  const Value **block; /* of each task the workers whose labels count, or none */
  I limit;
  int sign;
} side[DEEPEST];
static int depth, nodes, any; /* leaves that somebody can cover */
static I least;               /* of these: steps of prices */

static int by_group(const void *a, const void *b) {
  long i = *(const long *)a, j = *(const long *)b;
  if (P.task[i].kind != P.task[j].kind) return P.task[i].kind < P.task[j].kind ? -1 : 1;
  for (int s = 0; s < depth; s++)
    if (side[s].block[i] != side[s].block[j]) return side[s].block[i] < side[s].block[j] ? -1 : 1;
  return 0;
}

static I in_parts(const Value *v, I D) { /* the nearest, where it is not one */
  Ratio x = ratio(v);
  I below = parts(x.top, x.base, D);
  return below + (2 * (mul(D, x.top) % x.base) >= x.base);
}

static double size_of(const Value *v) {
  Ratio x = ratio(v);
  return (double)x.top / (double)x.base;
}
static I grid_of(const Value *own, const Value *above) { /* as fine as least_price has room for */
  double top = 0, many = 0;
  I D = 1000000 * GRID;
  for (long j = 0; j < P.workers; j++) {
    top = fmax(top, size_of(own->of + j)), many += (double)P.copies[j];
  }
  for (int s = 0; s < depth; s++) top += size_of(above->of + s);
  top += (double)P.highest / (double)power(P.places);
  while (D > GRID && 4e16 * (many + 1) * many * top * (double)D > 1e38) D /= 10;
  return D;
}

static void leaf(const Value *node, int priced) {
  const Value *own = list(get(node, "worker_prices"), P.workers);
  const Value *above = list(get(node, "side_prices"), depth);
  I D = priced ? power(P.places) : 1, bound = 0, once = 0, reached = 1, mu[DEEPEST];
  I *u = room((size_t)P.workers, sizeof *u), *charge = room((size_t)P.workers, sizeof *u);
  long *order = room((size_t)P.tasks, sizeof *order), last = -1;
  require(node->many == 2, "a leaf has two lists of prices");
  const I grid = grid_of(own, above);
  for (long j = 0; j < P.workers + depth && D <= grid; j++) {
    I base = ratio(j < P.workers ? own->of + j : above->of + (j - P.workers)).base;
    D = base > grid ? base : D / gcd(D, base) * base;
  }
  if (D > grid) D = grid;
  for (long j = 0; j < P.workers; j++) {
    u[j] = in_parts(own->of + j, D);
    bound = add(bound, -mul(u[j], mul(P.copies[j], P.capacity[j])));
  }
  for (int s = 0; s < depth; s++) {
    mu[s] = in_parts(above->of + s, D);
    bound = add(bound, -mul(mu[s], side[s].limit));
  }
  for (long i = 0; i < P.tasks; i++) order[i] = i;
  qsort(order, (size_t)P.tasks, sizeof *order, by_group);
  for (long k = 0; k < P.tasks && reached; k++) {
    long i = order[k];
    if (!P.times[i]) continue;
    if (last < 0 || by_group(&i, &last)) { /* tasks alike are priced once */
      memcpy(charge, u, (size_t)P.workers * sizeof *u);
      for (int s = 0; s < depth; s++)
        for (long l = 0; side[s].block[i] && l < side[s].block[i]->many; l++) {
          long j = (long)side[s].block[i]->of[l].top;
          charge[j] = add(charge[j], side[s].sign * mu[s]);
        }
      reached = least_price(P.task + i, charge, D, priced, &once), last = i;
    }
    if (reached) bound = add(bound, mul(P.times[i], once));
  }
  free(u), free(charge), free(order);
  if (!reached) return; /* there is no plan on these sides */
  I scale = power(P.places), common = gcd(scale, D);
  if (priced) bound = P.step ? up(mul(bound, scale / common), mul(D / common, P.step)) : 0;
  least = any++ && least < bound ? least : bound;
}

static void rising(const Value *rows, I size) {
  for (long k = 0; k < list(rows, -1)->many; k++)
    require(count(rows->of + k, size - 1) > (k ? rows->of[k - 1].top : -1), "not in rising order");
}

static void tree(const Value *node, int priced) {
  require(++nodes <= NODES, "a tree of too many nodes");
  const Value *pairs = get(node, "pairs");
  if (!pairs) {
    leaf(node, priced);
    return;
  }
  const Value **block = room((size_t)P.tasks, sizeof *block);
  I most = count(get(node, "most"), LARGEST);
  require(node->many == 4 && depth < DEEPEST, "a split of other fields, or a tree too deep");
  for (long k = 0; k < list(pairs, -1)->many; k++) {
    const Value *rows = list(pairs->of + k, 2)->of, *those = rows + 1;
    rising(rows, P.tasks), rising(those, P.workers);
    for (long l = 0; l < rows->many; l++) {
      require(!block[rows->of[l].top], "a task in two blocks of pairs");
      block[rows->of[l].top] = those;
    }
  }
  side[depth].block = block;
  for (int sign = 1; sign >= -1; sign -= 2) {
    side[depth].sign = sign, side[depth++].limit = sign > 0 ? most : -(most + 1);
    tree(get(node, sign > 0 ? "below" : "above"), priced);
    depth--;
  }
  free(block);
}

/* ---- what is proven ---- */

static Reader content(const char *path) {
  FILE *from = fopen(path, "rb");
  unsigned char *data = NULL;
  size_t size = 0, space = 0, had = 1;
  require(from != NULL, "a file that cannot be read");
  for (; had; size += had) {
    if (size == space) data = realloc(data, space = 2 * space + 65536);
    require(data != NULL, "no memory left");
    had = fread(data + size, 1, space - size, from);
  }
  fclose(from);
  return (Reader){data, data + size, 0};
}

static void verify(const char *problem, const char *proof, char *line, size_t size) {
  char hex[65], number[40];
  Reader of = content(problem);
  Value raw = parsed(of, 0), p = parsed(content(proof), 1);
  const Value *labels = get(&p, "labels"), *patterns = get(&p, "patterns");
  const Value *claim = get(&p, "claim"), *format = get(&p, "format"), *value = get(claim, "bound");
  int plan = labels || patterns;
  sha256(of.at, (size_t)(of.end - of.at), hex);
  const Value *kind = get(&p, "kind");
  able(!kind || kind->kind != 's' || is(kind, "assignment"), "a proof of another kind");
  require(is(kind, "assignment") && format && count(format, 2) == 2, "another kind");
  require(get(&p, "tree") && p.many == 5 + plan, "fields of another name");
  require(is(get(&p, "problem_sha256"), hex), "of another problem");
  read_problem(&raw);
  if (get(claim, "infeasible")) {
    require(get(claim, "infeasible")->kind == 'T' && claim->many == 1 && !plan, "no plan, and one");
    tree(get(&p, "tree"), 0);
    able(!any || least > 0 || !rounded, "a leaf does not rule it out, prices rounded");
    require(!any || least > 0, "a leaf does not rule it out");
    snprintf(line, size, "no plan keeps every constraint");
    return;
  }
  Ratio bound = ratio(value);
  I scale = power(P.places);
  tree(get(&p, "tree"), 1);
  int less = any && (least < 0 || compared(bound.top, bound.base, mul(least, P.step), scale) > 0);
  able(!less || !rounded, "the tree proves less, prices rounded");
  require(!less, "the tree proves less");
  const char *written = value->kind == 's' ? value->text : shown(value->top, number);
  snprintf(line, size, "no plan costs less than %s", written);
  require(claim->many == 1 + plan, "claim a bound, and a cost where there is a plan");
  if (!plan) return;
  I paid = cost_of(labels, patterns);
  Ratio cost = ratio(get(claim, "cost"));
  require(!compared(cost.top, cost.base, paid, scale), "the plan costs something else");
  require(any && mul(least, P.step) <= paid, "a plan below its bound");
  int none = !compared(bound.top, bound.base, paid, scale);
  snprintf(line, size, "a plan of cost %.12g, and none %s%s", (double)paid / (double)scale,
           none ? "is cheaper" : "costs less than ", none ? "" : written);
}

int main(int many, char **names) {
  static char line[200];
  int code = setjmp(out);
  if (code) return printf("%s\n", why), code;
  require(many == 3, "give two files, a problem and a proof");
  verify(names[1], names[2], line, sizeof line);
  return printf("holds: %s\n", line), 0;
}
