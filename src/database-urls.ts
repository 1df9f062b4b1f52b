/** DATABASE_URL as libpq reads it: it may name several servers of one database, host by host. */

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?]*@)?)([^/?@]*)(.*)$/;

/** A URL for each server. */
export function databaseUrls(text: string): [string, ...string[]] {
  const [, before = text, hosts = '', after = ''] = PARTS.exec(text) ?? [];
  const [first = '', ...others] = hosts.split(',');
  const urlOf = (host: string) => `${before}${host}${after}`;
  return [urlOf(first), ...others.map(urlOf)];
}
