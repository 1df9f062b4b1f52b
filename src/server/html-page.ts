/** Sends HTML pages of the server itself, which load nothing but a logo, can't be framed, and run only their own script. */
import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { Html, html } from '../kernel/html.ts';

const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --back: #fff; --soft: #f4f5f7; --line: #d5d9e0; --link: #0b57d0; --quiet: #59636e }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --back: #14171b; --soft: #1e2228; --line: #363c45; --link: #8ab4f8; --quiet: #9aa4b0 }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 44rem; padding: 2.5rem 1rem; background: var(--back); color: var(--text); overflow-wrap: anywhere }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 1rem }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem }
p { margin: .6rem 0 }
a { color: var(--accent, var(--link)) }
header { font-weight: 600; margin: 0 0 1.5rem }
header img { display: block; margin: 0 0 .6rem; max-height: 3rem; max-width: 100% }
a.button { background: var(--accent-fill, var(--link)); border-radius: .4rem; color: var(--on-accent, var(--back)); display: inline-block; font-weight: 600; padding: .5rem 1.1rem; text-decoration: none }
dl { border-top: 1px solid var(--line); margin: 1.2rem 0 }
dl div { border-bottom: 1px solid var(--line); padding: .6rem 0 }
dt { font-weight: 600 }
dd { color: var(--quiet); margin: 0 }
code, pre { font: .875rem/1.5 ui-monospace, monospace }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .4rem; overflow-x: auto; padding: .8rem; overflow-wrap: normal; user-select: all }
`;
const toHashSource = (text: string) => `sha256-${hash('sha256', text, 'base64')}`;
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** The only script that the page runs. */
export interface PageScript {
  source: string;
  /** The data that the script reads as JSON from the element with the id `data`. */
  data: unknown;
}

/** The appearance of the app that a page belongs to. */
interface Brand {
  appName: string;
  /** An https URL. Null without a logo. */
  logoUrl: string | null;
  /** CSS declarations of the accent colors. Empty for the usual colors. */
  accentStyle: string;
}

export interface Page {
  title: string;
  content: Html;
  script?: PageScript;
  /** Null for a page of the gateway. */
  brand?: Brand | null;
  /** The BCP 47 tag of the page's texts. */
  locale?: string;
}

export function sendPage(
  reply: FastifyReply,
  status: number,
  { title, content, script, brand = null, locale = 'en' }: Page,
): FastifyReply {
  const style = brand ? `${STYLE}:root { ${brand.accentStyle} }` : STYLE;
  const { text } = html`<!doctype html>
<html lang="${locale}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${new Html(style)}</style></head>
<body><main>${brand ? createHeader(brand) : ''}<h1>${title}</h1>
${content}</main>${script ? createScriptElements(script) : ''}</body>
</html>
`;
  const policy = [
    ...CONTENT_SECURITY_POLICY,
    `style-src '${toHashSource(style)}'`,
    ...(brand?.logoUrl ? [`img-src ${new URL(brand.logoUrl).origin}`] : []),
    ...(script ? [`script-src '${toHashSource(script.source)}'`] : []),
  ];
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy.join('; '))
    .send(text);
}

/** The header has the name as text, so screen readers skip the logo. */
function createHeader({ appName, logoUrl }: Brand): Html {
  const logo = logoUrl ? html`<img src="${logoUrl}" alt="" referrerpolicy="no-referrer">` : html``;
  return html`<header>${logo}${appName}</header>\n`;
}

export function toParagraphs(paragraphs: string[]): Html {
  return html`${paragraphs.map((text) => html`<p>${text}</p>\n`)}`;
}

/**
 * Returns the elements of a script and its data. The policy permits data without a hash, because it is not a script.
 * Escaping `<` keeps the data from closing its element.
 */
function createScriptElements({ source, data }: PageScript): Html {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return new Html(
    `<script type="application/json" id="data">${json}</script><script>${source}</script>`,
  );
}
