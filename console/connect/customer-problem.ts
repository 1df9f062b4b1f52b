/** Errors as a customer sees them. Mistakes of the builder's setup are none of the customer's business. */
import { useEffect, useMemo } from 'react';
import { Problem } from '../src/network/problem.ts';
import { notifyOpener } from './opener.ts';

/** Codes whose messages are for the person at the page. */
const CUSTOMER_CODES = ['UNPROCESSABLE', 'PROVIDER_ERROR'];

const SAFE_MESSAGES: Record<string, string> = {
  RATE_LIMITED: 'Too many attempts. Try again in a minute.',
  SERVICE_UNAVAILABLE: 'The service is not available at the moment. Try again in a few seconds.',
  UNAUTHENTICATED:
    'This link has expired. Go back to the app that sent you here and open the page again.',
};

export const OUR_FAULT =
  'Something is wrong on our side. Try again later, or contact the app that sent you here.';

interface CustomerProblemOptions {
  /** The inputs that show their own issues. */
  fields?: readonly string[];
  /** The input at which rejected credentials are shown. */
  secretField?: string | undefined;
  /** True if the customer can't have caused an error of the code `UNPROCESSABLE`. */
  isSetup?: boolean;
}

/**
 * Returns the error to show. An error of the setup is replaced by a neutral text, and reported to the builder's page
 * as `failed`.
 */
export function useCustomerProblem(
  problem: Problem | null,
  { fields = [], secretField, isSetup = false }: CustomerProblemOptions = {},
): Problem | null {
  const fieldNames = fields.join(' ');
  const customerProblem = useMemo(
    () => problem && findCustomerProblem(problem, { fieldNames, secretField, isSetup }),
    [problem, fieldNames, secretField, isSetup],
  );
  const isOurFault = problem !== null && customerProblem === null;
  useEffect(() => {
    if (isOurFault && problem) notifyOpener({ type: 'failed', detail: problem.message });
  }, [isOurFault, problem]);
  return useMemo(
    () => (isOurFault ? new Problem({ message: OUR_FAULT }) : customerProblem),
    [isOurFault, customerProblem],
  );
}

interface FindOptions {
  fieldNames: string;
  secretField: string | undefined;
  isSetup: boolean;
}

/** Null if the customer can't mend the error. */
function findCustomerProblem(problem: Problem, options: FindOptions): Problem | null {
  const { code, issues, message } = problem;
  const { fieldNames, secretField, isSetup } = options;
  const safeMessage = SAFE_MESSAGES[code];
  if (safeMessage) return new Problem({ message: safeMessage });
  const fields = fieldNames.split(' ');
  const isAtFields = issues.every(({ name }) => fields.includes(name.replace(/^input\./, '')));
  if (issues.length > 0) return isAtFields ? problem : null;
  if (isSetup || !CUSTOMER_CODES.includes(code)) return null;
  if (code !== 'UNPROCESSABLE' || !secretField) return problem;
  const problemAtField = {
    ...problem.document,
    issues: [{ name: secretField, detail: message }],
  };
  return new Problem({ message, extensions: { code, problem: problemAtField } });
}
