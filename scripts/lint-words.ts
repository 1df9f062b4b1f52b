/**
 * Refuses the words and openings that docs/style.md lists, in comments, documents, texts of the console and descriptions.
 * Skips code spans and quotations.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ts } from '@ts-morph/common';

/** The style guide itself, the changelog, applied migrations, generated documents, and vendors' files. */
const SKIPPED_FILES =
  /^(docs\/style\.md|CHANGELOG\.md|docs\/(conformance|scopes|webhooks)\.md|docs\/providers\/|migrations\/|test\/contract\/)/;

interface Passage {
  line: number;
  text: string;
  /** True if the passage is a comment, whose opening is checked too. */
  isComment: boolean;
}

/** Returns the first column of a table of docs/style.md as one regular expression. The heading identifies the table. */
function readRule(style: string, heading: string): string {
  const rows = style.split(`| ${heading} |`)[1]?.split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const words = rows.flatMap((row) => row.split('|')[1]?.match(/(?<=`)\w[^`]*(?=`)/g) ?? []);
  if (words.length === 0) throw new Error(`docs/style.md has no table "${heading}".`);
  return `(?:${words.join('|').replaceAll(' ', '\\s+')})(?![\\w-])`;
}

/** Replaces code, link targets and quotations by spaces, and keeps line breaks. */
function blankQuotes(text: string): string {
  const quotedText =
    /^( *)(`{3,}|~{3,})[\s\S]*?^\1\2 *$|`[^`]+`|\]\([^)]*\)|["“][^"“”\n]{1,200}["”]/gm;
  return text.replace(quotedText, (match) => match.replace(/[^\n]/g, ' '));
}

function isDescription(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isPropertyAssignment(parent)) return parent.name.getText() === 'description';
  const isCall = ts.isCallExpression(parent) && ts.isPropertyAccessExpression(parent.expression);
  return isCall && parent.expression.name.text === 'describe' && parent.arguments[0] === node;
}

/** Returns the comments and descriptions of a source file, and all strings if it belongs to the console. */
function listSourcePassages(file: string, text: string): Passage[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const passages = new Map<number, Passage>();
  const add = (pos: number, passage: string, isComment: boolean) => {
    const line = source.getLineAndCharacterOfPosition(pos).line + 1;
    passages.set(pos, { line, text: passage, isComment });
  };
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
    const ranges = ts.isJsxText(node)
      ? []
      : [
          ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
          ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
        ];
    for (const { pos, end } of ranges) {
      add(pos, text.slice(pos, end).replace(/^\/\*\*?|\*\/$|^[ \t]*(?:\*|\/\/)/gm, ''), true);
    }
    const isShown = file.startsWith('console/') && (ts.isJsxText(node) || isText);
    if (isShown || (isText && isDescription(node))) add(node.getStart(), node.getText(), false);
    for (const child of node.getChildren()) visit(child);
  };
  visit(source);
  // Line comments on consecutive lines are one comment, so only the first line can be an opening.
  const sortedPassages = [...passages.values()].sort((a, b) => a.line - b.line);
  return sortedPassages.map((passage, index) => {
    const previous = sortedPassages[index - 1];
    const isContinuation = previous?.isComment === true && previous.line === passage.line - 1;
    return isContinuation ? { ...passage, isComment: false } : passage;
  });
}

function listPassages(file: string, text: string): Passage[] {
  if (/\.tsx?$/.test(file)) return listSourcePassages(file, text);
  if (file.endsWith('.md')) return [{ line: 1, text, isComment: false }];
  const comments = text.split('\n').map((line) => /(?:^|\s)#\s(.*)/.exec(line)?.[1] ?? '');
  return comments.map((comment, index) => ({ line: index + 1, text: comment, isComment: false }));
}

const root = join(import.meta.dirname, '..');
const style = readFileSync(join(root, 'docs/style.md'), 'utf8');
const words = new RegExp(`(?<![\\w-])${readRule(style, 'refused word')}`, 'gi');
const opening = new RegExp(`^\\s*${readRule(style, 'refused opening')}`, 'g');
const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
for (const file of files) {
  if (!/\.(tsx?|md|ya?ml)$/.test(file) || SKIPPED_FILES.test(file)) continue;
  for (const { line, text, isComment } of listPassages(
    file,
    readFileSync(join(root, file), 'utf8'),
  )) {
    const prose = blankQuotes(text);
    const openings = isComment ? [...prose.matchAll(opening)] : [];
    for (const { 0: word, index } of [...prose.matchAll(words), ...openings]) {
      const lineOfWord = line + prose.slice(0, index).split('\n').length - 1;
      console.error(`${file}:${lineOfWord}: "${word.trim()}" is refused by docs/style.md.`);
      process.exitCode = 1;
    }
  }
}
