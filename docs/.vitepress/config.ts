/** The documentation site: the project's own Markdown, built by `npm run docs` and served at /docs. */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { defineConfig, type MarkdownOptions } from 'vitepress';
import { compress } from '../../scripts/compress.ts';
import {
  createSlug,
  HOME,
  listPages,
  PATHS,
  ROOT,
  SECTIONS,
  toSiteFile,
  toSiteUrl,
} from './navigation.ts';

const BASE = '/docs/';
const ICON = 'console/public/icon.svg';
/** Files that pages link to and that are not pages. They are copied into the site. */
const linkedFiles = new Set([ICON]);
/** The inline scripts of pages by the names of the files that replace them. */
const scripts = new Map<string, string>();

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0];

/** Replaces links that are relative to a file of the repository by links of the site. Fails on a dead one. */
function rewriteLinks(md: MarkdownIt): void {
  md.core.ruler.push('link-to-site', ({ tokens, env }) => {
    const source: string = relative(ROOT, env.realPath ?? env.path);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null || /^(#|\w+:)/.test(href)) continue;
      const [, path = '', hash = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
      const target = join(dirname(source), decodeURI(path));
      if (PATHS.has(target)) {
        token.attrSet('href', toSiteUrl(target) + hash);
      } else if (existsSync(join(ROOT, target))) {
        linkedFiles.add(target);
        token.attrSet('href', `${BASE}files/${target}`);
        // The site's router must leave it to the browser.
        token.attrSet('target', '_blank');
      } else {
        throw new Error(`${source} links to ${href}, which does not exist.`);
      }
    }
  });
}

/** Escapes `{{` in the text of a page, which Vue would evaluate. Vue does not evaluate code. */
function escapeInterpolation(md: MarkdownIt): void {
  const { text } = md.renderer.rules;
  md.renderer.rules.text = (...args) => (text?.(...args) ?? '').replaceAll('{{', '&#123;&#123;');
}

/** Moves inline scripts to files: the Content-Security-Policy of the server allows no inline script. */
function moveScripts(html: string): string {
  return html.replace(
    /<script id="([\w-]+)">(.*?)<\/script>/gs,
    (_all, id: string, text: string) => {
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
      const name = `assets/${id}.${hash}.js`;
      scripts.set(name, text);
      return `<script src="${BASE}${name}"></script>`;
    },
  );
}

export default defineConfig({
  title: 'Integration gateway',
  description: 'An integration platform behind a GraphQL API',
  base: BASE,
  // Without it, browsers request /favicon.ico, which the server does not have.
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}files/${ICON}` }]],
  cleanUrls: true,
  // Puts the metadata of pages into a file, because the Content-Security-Policy of the server allows no inline script.
  metaChunk: true,
  transformHtml: moveScripts,
  srcDir: ROOT,
  srcExclude: globSync('**/*.md', {
    cwd: ROOT,
    exclude: (name) => /(^|\/)(node_modules|data)$/.test(name),
  }).filter((path) => !PATHS.has(path)),
  outDir: join(import.meta.dirname, '..', 'dist'),
  cacheDir: join(import.meta.dirname, '..', 'node_modules', '.cache'),
  rewrites: toSiteFile,
  markdown: {
    anchor: { slugify: createSlug },
    languageAlias: { haproxy: 'nginx' },
    config(md) {
      rewriteLinks(md);
      escapeInterpolation(md);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    notFound: {
      title: 'Page not found',
      quote:
        'The documentation has no page at this address. Search for it, or start from the first page.',
      linkText: 'First page',
    },
    nav: SECTIONS.map((section) => ({
      text: section.text,
      link: toSiteUrl(section.pages[0]?.path ?? HOME),
    })),
    sidebar: SECTIONS.map((section) => ({
      text: section.text,
      collapsed: section.folder !== undefined,
      items: listPages(section).map(({ path, text }) => ({ text, link: toSiteUrl(path) })),
    })),
  },
  buildEnd({ outDir }) {
    for (const path of linkedFiles) {
      const copy = join(outDir, 'files', path);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(ROOT, path), copy);
    }
    for (const [name, text] of scripts) writeFileSync(join(outDir, name), text);
    compress(outDir);
  },
});
