/** Splits a database URL like libpq: it may list several hosts, which are servers of the same database. */
const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?]*@)?)([^/?@]*)(.*)$/;

/** Returns one URL for each server. */
export function splitDatabaseUrl(text: string): [string, ...string[]] {
  const [, before = text, hosts = '', after = ''] = URL_PARTS.exec(text) ?? [];
  const [first = '', ...otherHosts] = hosts.split(',');
  const toUrl = (host: string) => `${before}${host}${after}`;
  return [toUrl(first), ...otherHosts.map(toUrl)];
}
