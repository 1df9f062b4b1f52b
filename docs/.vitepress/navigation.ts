/** Pages of the documentation site, by purpose. Paths are those of the repository. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

interface Section {
  text: string;
  pages: Page[];
  /** Every other page of this folder follows, under its own title. */
  folder?: string;
}

interface Page {
  path: string;
  text: string;
}

export const ROOT = join(import.meta.dirname, '..', '..');
export const HOME = 'README.md';

const page = (path: string, text: string): Page => ({ path, text });

export const SECTIONS: Section[] = [
  {
    text: 'Start',
    pages: [
      page('docs/quickstart.md', 'Quickstart'),
      page('docs/demo.md', 'Tour of the demo'),
      page('docs/glossary.md', 'Glossary'),
      page('CHANGELOG.md', 'Changelog'),
    ],
  },
  {
    text: 'Build',
    pages: [
      page('docs/manifest.md', 'Manifest'),
      page('docs/contract.md', 'Contract'),
      page('docs/typed-api.md', 'Typed API'),
      page('docs/agents.md', 'Agents'),
      page('docs/config-as-code.md', 'Configuration as code'),
      page('docs/connect.md', 'Connect page'),
      page('docs/clients.md', 'Clients'),
      page('docs/webhooks.md', 'Webhooks'),
      page('docs/scopes.md', 'Scopes'),
      page('src/providers/sandbox/README.md', 'Sandbox'),
    ],
  },
  {
    text: 'Operate',
    pages: [
      page('docs/operations.md', 'Operations'),
      page('docs/runbook.md', 'Runbook'),
      page('docs/scale.md', 'Scale'),
      page('docs/performance.md', 'Performance'),
      page('SECURITY.md', 'Security'),
    ],
  },
  {
    text: 'Reference',
    pages: [
      page('docs/api-policy.md', 'API policy'),
      page('docs/rest-operations.md', 'REST operations'),
      page('docs/compatibility.md', 'Compatibility'),
      page('docs/conformance.md', 'Conformance'),
      page('docs/architecture.md', 'Architecture'),
      page('CONTRIBUTING.md', 'Contributing'),
      page('docs/style.md', 'Style'),
      page('test/README.md', 'Tests'),
      page('console/README.md', 'Console'),
      page('bench/README.md', 'Benchmarks'),
    ],
  },
  {
    text: 'Providers',
    pages: [page('docs/providers/README.md', 'All providers')],
    folder: 'docs/providers',
  },
  {
    text: 'Decisions',
    pages: [page('docs/decisions/README.md', 'All decisions')],
    folder: 'docs/decisions',
  },
];

/** The pages of a section in the order of the sidebar. */
export function pagesOf({ pages, folder }: Section): Page[] {
  if (!folder) return pages;
  const named = new Set(pages.map(({ path }) => path));
  const others = globSync(`${folder}/*.md`, { cwd: ROOT }).sort();
  const rest = others.filter((path) => !named.has(path));
  return [...pages, ...rest.map((path) => page(path, titleOf(path)))];
}

export const PATHS = new Set([
  HOME,
  ...SECTIONS.flatMap((section) => pagesOf(section).map(({ path }) => path)),
]);

function titleOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').split('\n')[0]?.replace('# ', '') ?? path;
}

/**
 * The file of a page below the site's root: `docs/scale.md` becomes `scale.md`, `CHANGELOG.md` `changelog.md`, and
 * `test/README.md` `test/index.md`.
 */
export function siteFile(path: string): string {
  const name = basename(path);
  const folder = path.slice(0, -name.length).replace(/^(docs|src\/providers)\//, '');
  if (name === 'README.md') return `${folder}index.md`;
  return folder + (/^[A-Z]+\.md$/.test(name) ? name.toLowerCase() : name);
}

/** The URL path of a page below the site's root, with a leading slash. */
export function siteUrl(path: string): string {
  return `/${siteFile(path).replace(/(^|\/)index\.md$|\.md$/, '$1')}`;
}

/** The id of a heading, by GitHub's rule, so that a link to it works on both. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}
