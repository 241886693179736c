// What the Go side calls: one parse of one text, and its tree laid out flat, so that it crosses in one copy.
// The module imports nothing. Memory that runs out, a stack that runs over and a failed assertion all end in a trap.
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "api.h"
#include "lexer.h"

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_typescript(void);
const TSLanguage *tree_sitter_tsx(void);
const TSLanguage *tree_sitter_rust(void);
const TSLanguage *tree_sitter_java(void);

#define EXPORT(name) __attribute__((export_name(name)))

// The order is the Go side's, too.
static const TSLanguage *language(uint32_t lang) {
  switch (lang) {
  case 0: return tree_sitter_python();
  case 1: return tree_sitter_javascript();
  case 2: return tree_sitter_typescript();
  case 3: return tree_sitter_tsx();
  case 4: return tree_sitter_rust();
  case 5: return tree_sitter_java();
  }
  __builtin_trap();
}

// Node is one node of the tree; nodes stand in preorder. Little endian, 16 bytes.
typedef struct {
  uint16_t kind;  // of the language's symbols
  uint8_t field;  // of the language's fields, 0 for none
  uint8_t flags;  // the bits below
  uint32_t start; // offset of the first byte
  uint32_t end;   // offset after the last
  uint32_t next;  // index of the node after this one's last descendant
} Node;

enum { NAMED = 1, BROKEN = 2, MISSING = 4, EXTRA = 8 };

// A parse has a budget of steps, in proportion to its text, so that its end is certain and is the same on every
// machine, be it fast or slow: characters that the lexers pass, and rounds of the parser, which asks for the time in
// every hundredth.
static uint64_t characters, rounds;
static void (*pass)(TSLexer *, bool);

static void counted(TSLexer *lexer, bool skip) {
  if (characters-- == 0) __builtin_trap();
  pass(lexer, skip);
}

static TSParser *parser;
static Node *nodes;
static uint32_t count, room;

EXPORT("reserve") void *reserve(uint32_t size) {
  void *p = malloc(size ? size : 1);
  if (!p) __builtin_trap();
  return p;
}

EXPORT("release") void release(void *p) { free(p); }

static uint32_t append(TSNode n, uint8_t field) {
  if (count == room) {
    room = room ? room * 2 : 4096;
    nodes = realloc(nodes, (size_t)room * sizeof(Node));
    if (!nodes) __builtin_trap();
  }
  uint8_t flags = 0;
  if (ts_node_is_named(n)) flags |= NAMED;
  if (ts_node_is_error(n)) flags |= BROKEN;
  if (ts_node_is_missing(n)) flags |= MISSING;
  if (ts_node_is_extra(n)) flags |= EXTRA;
  nodes[count] = (Node){ts_node_symbol(n), field, flags, ts_node_start_byte(n), ts_node_end_byte(n), 0};
  return count++;
}

// flatten walks the tree without recursion; while a node is open, its next holds its parent.
static void flatten(TSNode root) {
  TSTreeCursor c = ts_tree_cursor_new(root);
  uint32_t open = append(root, 0);
  nodes[open].next = UINT32_MAX;
  for (;;) {
    int down = ts_tree_cursor_goto_first_child(&c);
    while (!down && !ts_tree_cursor_goto_next_sibling(&c)) {
      uint32_t parent = nodes[open].next;
      nodes[open].next = count;
      open = parent;
      if (open == UINT32_MAX || !ts_tree_cursor_goto_parent(&c)) {
        for (; open != UINT32_MAX; open = parent) {
          parent = nodes[open].next;
          nodes[open].next = count;
        }
        ts_tree_cursor_delete(&c);
        return;
      }
    }
    uint32_t parent = open;
    if (!down) { // a sibling: the node before it is closed
      parent = nodes[open].next;
      nodes[open].next = count;
    }
    open = append(ts_tree_cursor_current_node(&c), (uint8_t)ts_tree_cursor_current_field_id(&c));
    nodes[open].next = parent;
  }
}

// parse gives the number of nodes; they begin at what tree() gives, until the next parse.
EXPORT("parse") uint32_t parse(uint32_t lang, const char *text, uint32_t size) {
  if (!parser) {
    parser = ts_parser_new();
    if (!parser) __builtin_trap();
    Lexer *lexer = (Lexer *)parser; // its first field
    pass = lexer->data.advance;
    lexer->data.advance = counted;
    ts_parser_set_timeout_micros(parser, (uint64_t)1 << 50); // or it would not ask
  }
  characters = (uint64_t)size * 64 + (1 << 22);
  rounds = (uint64_t)size + (1 << 16);
  count = 0;
  if (!ts_parser_set_language(parser, language(lang))) __builtin_trap();
  TSTree *tree = ts_parser_parse_string(parser, NULL, text, size);
  if (!tree) __builtin_trap();
  flatten(ts_tree_root_node(tree));
  ts_tree_delete(tree);
  ts_parser_reset(parser);
  return count;
}

EXPORT("tree") Node *tree(void) { return nodes; }

// kind and field give names, and NULL behind the last one.
EXPORT("kind") const char *kind(uint32_t lang, uint32_t id) {
  const TSLanguage *l = language(lang);
  return id < ts_language_symbol_count(l) ? ts_language_symbol_name(l, (TSSymbol)id) : NULL;
}

EXPORT("field") const char *field(uint32_t lang, uint32_t id) {
  const TSLanguage *l = language(lang);
  return id <= ts_language_field_count(l) ? ts_language_field_name_for_id(l, (TSFieldId)id) : NULL;
}

// What the runtime would like of an operating system. Its logs and its dot graphs are not used.
#include <stdio.h>
#include <time.h>

void abort(void) { __builtin_trap(); }
int clock_gettime(clockid_t id, struct timespec *t) {
  if (rounds-- == 0) __builtin_trap();
  *t = (struct timespec){.tv_sec = 1};
  return 0;
}
int fprintf(FILE *f, const char *format, ...) { return 0; }
int snprintf(char *to, size_t size, const char *format, ...) { if (size) *to = 0; return 0; }
int vsnprintf(char *to, size_t size, const char *format, va_list args) { if (size) *to = 0; return 0; }
int fputs(const char *s, FILE *f) { return 0; }
int fputc(int c, FILE *f) { return 0; }
size_t fwrite(const void *p, size_t size, size_t n, FILE *f) { return n; }
int fclose(FILE *f) { return 0; }
FILE *fdopen(int fd, const char *mode) { return NULL; }
int dup(int fd) { return -1; }
