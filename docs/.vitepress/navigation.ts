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

export const SECTIONS: Section[] = [
  {
    text: 'Start',
    pages: [
      { path: 'docs/quickstart.md', text: 'Quickstart' },
      { path: 'docs/demo.md', text: 'Tour of the demo' },
      { path: 'docs/comparison.md', text: 'Comparison' },
      { path: 'docs/glossary.md', text: 'Glossary' },
      { path: 'CHANGELOG.md', text: 'Changelog' },
    ],
  },
  {
    text: 'Build',
    pages: [
      { path: 'docs/manifest.md', text: 'Manifest' },
      { path: 'docs/contract.md', text: 'Contract' },
      { path: 'docs/typed-api.md', text: 'Typed API' },
      { path: 'docs/agents.md', text: 'Agents' },
      { path: 'docs/config-as-code.md', text: 'Configuration as code' },
      { path: 'docs/connect.md', text: 'Connect page' },
      { path: 'docs/data-access.md', text: 'Choose how to get data' },
      { path: 'docs/clients.md', text: 'Clients' },
      { path: 'docs/webhooks.md', text: 'Webhooks' },
      { path: 'docs/scopes.md', text: 'Scopes' },
      { path: 'docs/troubleshooting.md', text: 'Troubleshooting' },
      { path: 'src/providers/sandbox/README.md', text: 'Sandbox' },
    ],
  },
  {
    text: 'Operate',
    pages: [
      { path: 'docs/operations/README.md', text: 'Operations' },
      { path: 'docs/operations/install.md', text: 'Install for production' },
      { path: 'docs/operations/sizing.md', text: 'Sizing' },
      { path: 'docs/operations/settings.md', text: 'Settings' },
      { path: 'docs/operations/builders.md', text: 'Builders and orgs' },
      { path: 'docs/operations/database.md', text: 'The database' },
      { path: 'docs/operations/backup.md', text: 'Backups and keys' },
      { path: 'docs/operations/restarts.md', text: 'Health, restarts and upgrades' },
      { path: 'docs/operations/limits.md', text: 'Overload and limits' },
      { path: 'docs/operations/logs.md', text: 'Logs' },
      { path: 'docs/operations/metrics.md', text: 'Metrics' },
      { path: 'docs/operations/traces.md', text: 'Traces' },
      { path: 'docs/runbook.md', text: 'Runbook' },
      { path: 'docs/scale.md', text: 'Scale' },
      { path: 'docs/performance.md', text: 'Performance' },
      { path: 'SECURITY.md', text: 'Security' },
    ],
  },
  {
    text: 'Reference',
    pages: [
      { path: 'docs/api-policy.md', text: 'API policy' },
      { path: 'docs/rest-operations.md', text: 'REST operations' },
      { path: 'docs/compatibility.md', text: 'Compatibility' },
      { path: 'docs/conformance.md', text: 'Conformance' },
      { path: 'docs/architecture.md', text: 'Architecture' },
      { path: 'CONTRIBUTING.md', text: 'Contributing' },
      { path: 'docs/style.md', text: 'Style' },
      { path: 'test/README.md', text: 'Tests' },
      { path: 'console/README.md', text: 'Console' },
      { path: 'bench/README.md', text: 'Benchmarks' },
    ],
  },
  {
    text: 'Providers',
    pages: [
      { path: 'docs/providers/README.md', text: 'All providers' },
      { path: 'docs/providers/your-own.md', text: 'Your own provider' },
      { path: 'docs/providers/document.md', text: 'Members of a document' },
    ],
    folder: 'docs/providers',
  },
  {
    text: 'Decisions',
    pages: [{ path: 'docs/decisions/README.md', text: 'All decisions' }],
    folder: 'docs/decisions',
  },
];

/** The pages of a section in the order of the sidebar. */
export function listPages({ pages, folder }: Section): Page[] {
  if (!folder) return pages;
  const named = new Set(pages.map(({ path }) => path));
  const others = globSync(`${folder}/*.md`, { cwd: ROOT }).sort();
  const rest = others.filter((path) => !named.has(path));
  return [...pages, ...rest.map((path) => ({ path, text: readTitle(path) }))];
}

export const PATHS = new Set([
  HOME,
  ...SECTIONS.flatMap((section) => listPages(section).map(({ path }) => path)),
]);

function readTitle(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8').split('\n')[0]?.replace('# ', '') ?? path;
}

/**
 * The file of a page below the site's root: `docs/scale.md` becomes `scale.md`, `CHANGELOG.md` `changelog.md`, and
 * `test/README.md` `test/index.md`.
 */
export function toSiteFile(path: string): string {
  const name = basename(path);
  const folder = path.slice(0, -name.length).replace(/^(docs|src\/providers)\//, '');
  if (name === 'README.md') return `${folder}index.md`;
  return folder + (/^[A-Z]+\.md$/.test(name) ? name.toLowerCase() : name);
}

/** The URL path of a page below the site's root, with a leading slash. */
export function toSiteUrl(path: string): string {
  return `/${toSiteFile(path).replace(/(^|\/)index\.md$|\.md$/, '$1')}`;
}

/** The id of a heading, by GitHub's rule, so that a link to it works on both. */
export function createSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');
}
