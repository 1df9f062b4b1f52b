/** The gateway's pages for customers, in their language and with the name, logo and color of the app. */
import type { FastifyRequest } from 'fastify';
import { ACCENT_NAMES, createAccentColors } from '../../console/common/accent-colors.ts';
import { getMessages, type Messages } from '../../console/common/customer-messages.ts';
import { chooseLocale } from '../../console/common/languages.ts';
import type { ConnectPage } from '../domain/connection/consent/connect-page.ts';
import { type Html, html } from '../html.ts';
import { createPage, type PageScript, toParagraphs } from './plain-page.ts';

/** Creates pages in the language of a customer, with the appearance of a project. */
export class CustomerPages {
  readonly messages: Messages;
  readonly #locale: string;
  readonly #connectPage: ConnectPage | null;

  /** If `connectPage` is null, the pages have the language of the browser and no app's name. */
  constructor({ headers }: FastifyRequest, connectPage: ConnectPage | null) {
    const browserLocales = parseLanguages(headers['accept-language'] ?? '');
    this.#locale = chooseLocale(connectPage?.locale ? [connectPage.locale] : browserLocales);
    this.#connectPage = connectPage;
    this.messages = getMessages(this.#locale);
  }

  create(
    status: number,
    title: string,
    { content, script }: { content: Html; script?: PageScript },
  ): Response {
    const page = this.#connectPage;
    const isBranded = page?.isBranded ?? false;
    const footer = isBranded
      ? html`<p><small>${this.messages.connectedByGateway}</small></p>\n`
      : html``;
    return createPage(status, title, {
      content: html`${content}${footer}`,
      script,
      locale: this.#locale,
      brand: page && { ...page, accentStyle: formatAccent(page.accentColor) },
    });
  }

  createFailure(status: number, paragraphs: string[], script?: PageScript): Response {
    const content = toParagraphs(paragraphs);
    return this.create(status, this.messages.notConnected, { content, script });
  }
}

/** Returns the tags of an Accept-Language header. Browsers sort them by preference. */
function parseLanguages(header: string): string[] {
  return header.split(',').map((range) => range.split(';')[0]?.trim() ?? '');
}

function formatAccent(color: string | null): string {
  if (color === null) return '';
  const colors = createAccentColors(color);
  return ACCENT_NAMES.map((name) => `${name}: ${colors[name]};`).join(' ');
}
