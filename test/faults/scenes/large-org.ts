/** Simulates a Salesforce org of any size. Its accounts are generated on request, and not stored. */
import {
  type ProviderServer,
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';

const QUERY = '/services/data/v60.0/query';

/** Serves this number of accounts, numbered from 0, in the order of their numbers. */
export function startLargeOrg(accounts: number): Promise<ProviderServer> {
  return startProviderServer((request) => {
    const start = parseStart(request.path);
    if (start !== null) return page(accounts, { start, size: pageSize(request) });
    return { status: 404, body: [{ errorCode: 'NOT_FOUND', message: request.path }] };
  });
}

/** Returns the number of the account with this ID. */
export function accountNumber(id: string): number {
  return Number(id.slice(3));
}

/** Returns the number of the first account of the page, or null for another path. A locator contains it. */
function parseStart(path: string): number | null {
  if (path === QUERY) return 0;
  const [, start] = /\/query\/01g-(\d+)$/.exec(path) ?? [];
  return start === undefined ? null : Number(start);
}

function pageSize({ headers }: ServedRequest): number {
  return Number(headers['sforce-query-options']?.split('=')[1]);
}

function page(accounts: number, { start, size }: { start: number; size: number }): ServedResponse {
  const end = Math.min(start + size, accounts);
  const done = end === accounts;
  return {
    status: 200,
    body: {
      totalSize: accounts,
      done,
      ...(!done && { nextRecordsUrl: `${QUERY}/01g-${end}` }),
      records: Array.from({ length: end - start }, (_, index) => account(start + index)),
    },
  };
}

function account(number: number) {
  const id = `001${String(number).padStart(15, '0')}`;
  return {
    attributes: { type: 'Account', url: `/services/data/v60.0/sobjects/Account/${id}` },
    Id: id,
    Name: `Account ${number}`,
    Website: `https://www.account-${number}.example.com`,
    Phone: `+49 30 ${number}`,
    BillingStreet: `${number} Long Street`,
    Description: 'What somebody noted of this account in a sentence or two, and never read again.',
  };
}
