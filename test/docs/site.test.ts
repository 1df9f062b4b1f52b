/** The documentation site has every page, and every link leads to a file and a heading, on GitHub and on the site. */
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

/** Ids of the headings of a page. A repeated heading gets a number. */
function listSlugs(path: string): Set<string> {
  const slugs = new Set<string>();
  for (const [, heading = ''] of readText(path).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = createSlug(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
    let unique = slug;
    for (let count = 1; slugs.has(unique); count += 1) unique = `${slug}-${count}`;
    slugs.add(unique);
  }
  return slugs;
}

/** Returns why a link of a page is dead, or null. */
function findFault(page: string, href: string): string | null {
  const [path = '', hash] = href.split('#');
  const target = path ? join(dirname(page), decodeURI(path)) : page;
  if (!existsSync(join(ROOT, target))) return `${page}: ${href} does not exist`;
  if (statSync(join(ROOT, target)).isDirectory()) return `${page}: ${href} is a folder`;
  if (hash === undefined || listSlugs(target).has(hash)) return null;
  return `${page}: ${href} names no heading of ${target}`;
}

test('the sidebar lists every Markdown file of the repository', () => {
  expect([...PATHS].sort()).toEqual(pages.toSorted());
  expect(new Set(pages.map(toSiteFile)).size).toBe(pages.length);
  expect(SECTIONS.map(({ text }) => text)).toEqual([
    ...['Start', 'Build', 'Operate', 'Reference', 'Providers', 'Decisions'],
  ]);
});

test('every link leads to an existing file and heading', () => {
  const faults = pages.flatMap((page) =>
    [
      ...readText(page)
        .replaceAll(/`[^`\n]*`/g, '``')
        .matchAll(/\]\(([^)\s]+)\)/g),
    ]
      .map(([, href]) => href as string)
      .filter((href) => !/^\w+:/.test(href))
      .flatMap((href) => findFault(page, href) ?? []),
  );
  expect(faults).toEqual([]);
});
