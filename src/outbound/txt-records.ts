/** Reads TXT records from DNS. */
import { Resolver } from 'node:dns/promises';

/** Returns the TXT records of a domain, or an empty list if there are none. Throws if DNS does not respond. */
export type ReadTxtRecords = (domain: string) => Promise<string[]>;

const LIMITS = { timeout: 2_000, tries: 2 };
/** Errors of a domain that does not exist or has no TXT records. */
const NO_RECORD = ['ENOTFOUND', 'ENODATA'];

export const readTxtRecords: ReadTxtRecords = async (domain) => {
  try {
    const records = await new Resolver(LIMITS).resolveTxt(domain);
    // DNS splits long strings into parts.
    return records.map((parts) => parts.join(''));
  } catch (error) {
    if (NO_RECORD.includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
};
