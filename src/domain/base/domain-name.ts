import { domainToASCII } from 'node:url';
import emailProviders from 'email-providers/common.json' with { type: 'json' };
import { parse } from 'tldts';
import { z } from 'zod';

/** The maximum length of a name in the DNS. */
const DOMAIN_LENGTH_MAX = 253;
/** The maximum length of an input, far above the length of a pasted email address or link. */
const TEXT_LENGTH_MAX = 2_048;
/** A label of a domain name in lower case. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** A top-level label starts with a letter. An IP address is not a domain. */
const TOP_LABEL = /^[a-z]./;
const WWW = /^(?:www\.)+(?=.+\.)/;
/** Characters that would end or split a host in a URL. */
const INVALID_IN_HOST = /[\s/\\:?#@%[\]]/;

const FREE_MAIL_DOMAINS = new Set(emailProviders);

/**
 * Returns the domain of an email address, a host or a URL: lowercase, in Punycode, without a leading www. and without
 * a trailing dot. Null if there is none. An email address at a www host has no domain, because the host may belong to
 * other people than the domain.
 */
export function parseDomain(text: string): string | null {
  const host = parseHost(text.trim())?.replace(/\.$/, '');
  if (host === undefined || INVALID_IN_HOST.test(host)) return null;
  const name = domainToASCII(host);
  if (text.includes('@') && !text.includes('://') && WWW.test(name)) return null;
  const domain = name.replace(WWW, '');
  return isDomain(domain) ? domain : null;
}

function isDomain(name: string): boolean {
  const labels = name.split('.');
  return (
    name.length <= DOMAIN_LENGTH_MAX &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    TOP_LABEL.test(labels.at(-1) ?? '')
  );
}

function parseHost(text: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return URL.parse(text)?.hostname;
  const [localPart, host, ...otherParts] = text.split('@');
  if (host === undefined) return text;
  return localPart && !/\s/.test(localPart) && otherParts.length === 0 ? host : undefined;
}

/** Accepts a domain in any form that `parseDomain` accepts. */
export const domainName = z
  .string()
  .min(1)
  .max(TEXT_LENGTH_MAX)
  .transform((text, context) => {
    const domain = parseDomain(text);
    if (domain !== null) return domain;
    context.addIssue('must be an email address, a domain name or a URL.');
    return z.NEVER;
  });

/**
 * Accepts domains that one organization can own. Refuses public suffixes, under which anyone can register a name, and
 * domains of mail services, whose users belong to no organization.
 */
export const claimableDomain = domainName.superRefine((domain, context) => {
  if (FREE_MAIL_DOMAINS.has(domain)) {
    context.addIssue(`is a domain of a mail service, ${domain}, which no organization can claim.`);
  } else if (parse(domain, { allowPrivateDomains: true }).domain === null) {
    context.addIssue(`is a public suffix, ${domain}, which no organization can claim.`);
  }
});
