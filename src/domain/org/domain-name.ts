/** Internet domains, taken from what people type. */
import { domainToASCII } from 'node:url';
import { z } from 'zod';

/** The longest name that DNS has. */
const DOMAIN_MAX = 253;
/** Far above any e-mail address or link that someone would paste. */
const TEXT_MAX = 2_048;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Starts with a letter: an IP address is no domain. */
const TOP_LABEL = /^[a-z]./;
/** Characters that end or split the host of a URL are not allowed in a bare host. */
const NOT_OF_A_HOST = /[\s/\\:?#@%[\]]/;

/**
 * The domain of an e-mail address, a host or a URL: lowercase, in Punycode, without a leading www.
 * Null if there is none. The domain of a domain is itself.
 */
export function domainOf(text: string): string | null {
  const host = hostOf(text.trim());
  if (host === null || NOT_OF_A_HOST.test(host)) return null;
  const domain = domainToASCII(host).replace(/^(?:www\.)+(?=.+\.)/, '');
  return isDomain(domain) ? domain : null;
}

function isDomain(name: string): boolean {
  const labels = name.split('.');
  return (
    name.length <= DOMAIN_MAX &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    TOP_LABEL.test(labels.at(-1) ?? '')
  );
}

function hostOf(text: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return URL.parse(text)?.hostname ?? null;
  const [local, host, ...more] = text.split('@');
  if (host === undefined) return text;
  return local && !/\s/.test(local) && more.length === 0 ? host : null;
}

/** A domain in an input, given in any of these forms. */
export const domainName = z
  .string()
  .min(1)
  .max(TEXT_MAX)
  .transform((text, context) => {
    const domain = domainOf(text);
    if (domain !== null) return domain;
    context.addIssue('must be an e-mail address, a domain name or a URL.');
    return z.NEVER;
  });
