/** The gateway's pages for customers, in their language and with the name, logo and color of the app. */
import type { FastifyReply } from 'fastify';
import { ACCENT_NAMES, createAccentColors } from '../../console/common/accent-colors.ts';
import { getMessages, type Messages } from '../../console/common/customer-messages.ts';
import { chooseLocale } from '../../console/common/languages.ts';
import type { ConnectPage } from '../domain/connection/consent/connect-page.ts';
import { html } from '../html.ts';
import { type Page, sendPage, toParagraphs } from './plain-page.ts';

/** Sends pages in the language of a customer, with the appearance of a project. */
export class CustomerPages {
  readonly messages: Messages;
  readonly #reply: FastifyReply;
  readonly #locale: string;
  readonly #connectPage: ConnectPage | null;

  /** If `connectPage` is null, the pages have the language of the browser and no app's name. */
  constructor(reply: FastifyReply, connectPage: ConnectPage | null) {
    const browserLocales = parseLanguages(reply.request.headers['accept-language'] ?? '');
    this.#reply = reply;
    this.#locale = chooseLocale(connectPage?.locale ? [connectPage.locale] : browserLocales);
    this.#connectPage = connectPage;
    this.messages = getMessages(this.#locale);
  }

  send(
    status: number,
    { title, content, script }: Pick<Page, 'title' | 'content' | 'script'>,
  ): FastifyReply {
    const page = this.#connectPage;
    const footer = page?.isBranded
      ? html`<p><small>${this.messages.connectedByGateway}</small></p>\n`
      : html``;
    return sendPage(this.#reply, status, {
      title,
      content: html`${content}${footer}`,
      script,
      locale: this.#locale,
      brand: page && { ...page, accentStyle: formatAccent(page.accentColor) },
    });
  }

  /** Sends the page of an account that is not connected. */
  sendFailure(status: number, paragraphs: string[], script?: Page['script']): FastifyReply {
    const title = this.messages.notConnected;
    return this.send(status, { title, content: toParagraphs(paragraphs), script });
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
