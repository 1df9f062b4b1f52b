/** The gateway's pages for customers, in their language and with the name, logo and color of the app. */
import type { FastifyReply } from 'fastify';
import { ACCENT_NAMES, createAccentColors } from '../../console/common/accent-colors.ts';
import { getMessages } from '../../console/common/customer-messages.ts';
import { chooseLocale } from '../../console/common/languages.ts';
import type { OAuthFlowPage } from '../domain/connections/connection/consent/flow-page.ts';
import { html } from '../kernel/html.ts';
import { type Page, type PageScript, sendPage, toParagraphs } from './html-page.ts';

export type CustomerPages = ReturnType<typeof createCustomerPages>;

/**
 * Returns functions that send pages in the language of a customer, with the appearance of a project. If `flowPage` is
 * null, the pages have the language of the browser and no app's name.
 */
export function createCustomerPages(reply: FastifyReply, flowPage: OAuthFlowPage | null) {
  const browserLocales = parseLanguages(reply.request.headers['accept-language'] ?? '');
  const locale = chooseLocale(flowPage?.locale ? [flowPage.locale] : browserLocales);
  const messages = getMessages(locale);
  const footer = flowPage?.isBranded
    ? html`<p><small>${messages.connectedByGateway}</small></p>\n`
    : html``;
  const brand = flowPage && {
    ...flowPage,
    accentStyle: formatAccent(flowPage.accentColor),
  };
  const send = (status: number, { content, ...page }: Page): FastifyReply =>
    sendPage(reply, status, { ...page, content: html`${content}${footer}`, locale, brand });
  return {
    messages,
    send,
    /** Sends the page of an account that is not connected. */
    sendFailure: (status: number, paragraphs: string[], script?: PageScript): FastifyReply =>
      send(status, { title: messages.notConnected, content: toParagraphs(paragraphs), script }),
  };
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
