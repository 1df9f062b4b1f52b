/** TXT records, as DNS has them. */
import { Resolver } from 'node:dns/promises';

/** The texts of a domain's TXT records, none if it has none. Throws if DNS does not answer. */
export type ReadTxtRecords = (domain: string) => Promise<string[]>;

const LIMITS = { timeout: 2_000, tries: 2 };
/** There is no such domain, or it has no record of the type. */
const NONE = ['ENOTFOUND', 'ENODATA'];

export const readTxtRecords: ReadTxtRecords = async (domain) => {
  try {
    const records = await new Resolver(LIMITS).resolveTxt(domain);
    // Long texts come in parts.
    return records.map((parts) => parts.join(''));
  } catch (error) {
    if (NONE.includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
};
