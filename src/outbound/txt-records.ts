/** Reads TXT records from DNS. */
import { Resolver } from 'node:dns/promises';

/** Returns the TXT records of a domain, or an empty list if there are none. Throws if DNS does not respond. */
export type ReadTxtRecords = (domain: string) => Promise<string[]>;

const LIMITS = { timeout: 2_000, tries: 2 };
/** Errors that mean: the domain does not exist, or it has no TXT record. */
const NO_RECORD = ['ENOTFOUND', 'ENODATA'];

export const readTxtRecords: ReadTxtRecords = async (domain) => {
  try {
    const records = await new Resolver(LIMITS).resolveTxt(domain);
    // DNS splits long texts into parts.
    return records.map((parts) => parts.join(''));
  } catch (error) {
    if (NO_RECORD.includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
};
