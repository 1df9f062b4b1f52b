/** Tests that the documentation site has every page, and that every link leads to an existing file and heading. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { createSlug, PATHS, SECTIONS, toSiteFile } from '../../docs/.vitepress/navigation.ts';
import { ROOT } from '../support/documents.ts';

const pages = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
  { cwd: ROOT, encoding: 'utf8' },
)
  .split('\n')
  .filter((path) => path && existsSync(join(ROOT, path)));

const readText = (path: string) =>
  readFileSync(join(ROOT, path), 'utf8').replaceAll(/^```.*?^```$/gms, '');

/** Returns the ids of the headings of a page. A repeated heading gets a number. */
function listSlugs(path: string): Set<string> {
  const slugs = new Set<string>();
  for (const [, heading = ''] of readText(path).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = createSlug(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    let uniqueSlug = slug;
    for (let count = 1; slugs.has(uniqueSlug); count += 1) uniqueSlug = `${slug}-${count}`;
    slugs.add(uniqueSlug);
  }
  return slugs;
}

/** Returns why a link of a page does not work, or null. */
function findBrokenLink(page: string, href: string): string | null {
  const [path = '', hash] = href.split('#');
  const target = path ? join(dirname(page), decodeURI(path)) : page;
  if (!existsSync(join(ROOT, target))) return `${page}: ${href} does not exist`;
  if (statSync(join(ROOT, target)).isDirectory()) return `${page}: ${href} is a folder`;
  if (hash === undefined || listSlugs(target).has(hash)) return null;
  return `${page}: ${href} names no heading of ${target}`;
}

test('lists every Markdown file of the repository in the sidebar', () => {
  expect([...PATHS].sort()).toEqual(pages.toSorted());
  expect(new Set(pages.map(toSiteFile)).size).toBe(pages.length);
  expect(SECTIONS.map(({ text }) => text)).toEqual([
    ...['Start', 'Build', 'Operate', 'Reference', 'Providers', 'Decisions'],
  ]);
});

test('has only links to existing files and headings', () => {
  const brokenLinks = pages.flatMap((page) =>
    [
      ...readText(page)
        .replaceAll(/`[^`\n]*`/g, '``')
        .matchAll(/\]\(([^)\s]+)\)/g),
    ]
      .map(([, href]) => href as string)
      .filter((href) => !/^\w+:/.test(href))
      .flatMap((href) => findBrokenLink(page, href) ?? []),
  );
  expect(brokenLinks).toEqual([]);
});
