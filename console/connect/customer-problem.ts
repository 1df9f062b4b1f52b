/** Errors as a customer sees them. Mistakes in the builder's setup are hidden from customers and reported to the builder. */
import { useEffect, useMemo } from 'react';
import { type Issue, Problem } from '../src/network/problem.ts';
import { type Messages, useMessages } from './messages.ts';
import { notifyOpener } from './opener.ts';

/** Codes of errors whose messages customers may see. */
const CUSTOMER_CODES = ['UNPROCESSABLE', 'PROVIDER_ERROR'];

function findSafeMessage(code: string, messages: Messages): string | undefined {
  const safeMessages: Record<string, string> = {
    RATE_LIMITED: messages.tooManyAttempts,
    SERVICE_UNAVAILABLE: messages.serviceUnavailable,
    UNAUTHENTICATED: messages.sessionExpired,
    PROPOSAL_COMMITTED: messages.alreadyCommitted,
    PROPOSAL_EXPIRED: messages.proposalExpired,
    PROPOSAL_REJECTED: messages.alreadyRejected,
    PROPOSAL_STALE: messages.recordChanged,
    SELF_APPROVAL: messages.approverIsProposer,
  };
  return safeMessages[code];
}

interface CustomerProblemOptions {
  /** The inputs that show their own issues. */
  fields?: readonly string[];
  /** The input at which rejected credentials are shown. */
  secretField?: string | undefined;
  /** True if only the builder's setup can cause an error, such as `UNPROCESSABLE`. */
  isSetup?: boolean;
}

/**
 * Returns the problem to show. A problem of the builder's setup is replaced by a neutral text, and reported to the
 * builder's page in an event `failed`.
 */
export function useCustomerProblem(
  problem: Problem | null,
  { fields = [], secretField, isSetup = false }: CustomerProblemOptions = {},
): Problem | null {
  const messages = useMessages();
  const fieldNames = fields.join(' ');
  const customerProblem = useMemo(
    () => problem && findCustomerProblem(problem, { messages, fieldNames, secretField, isSetup }),
    [problem, messages, fieldNames, secretField, isSetup],
  );
  const isSetupProblem = problem !== null && customerProblem === null;
  useEffect(() => {
    if (isSetupProblem && problem) notifyOpener({ type: 'failed', detail: problem.message });
  }, [isSetupProblem, problem]);
  return useMemo(
    () => (isSetupProblem ? new Problem({ message: messages.ourFault }) : customerProblem),
    [isSetupProblem, messages, customerProblem],
  );
}

interface FindOptions {
  messages: Messages;
  fieldNames: string;
  secretField: string | undefined;
  isSetup: boolean;
}

/** Returns the problem as the customer may see it. Null if the customer can't correct it. */
function findCustomerProblem(problem: Problem, options: FindOptions): Problem | null {
  const { code, issues, message } = problem;
  const { messages, fieldNames, secretField, isSetup } = options;
  const safeMessage = findSafeMessage(code, messages);
  if (safeMessage) return new Problem({ message: safeMessage });
  const fields = fieldNames.split(' ');
  const isAtFields = issues.every(({ name }) => fields.includes(name.replace(/^input\./, '')));
  if (issues.length > 0) {
    if (!isAtFields) return null;
    const details = issues.map((issue) => {
      const detail = messages.valueDetail(issue.detail);
      return detail === issue.detail ? issue : { name: issue.name, detail };
    });
    return toFieldProblem(problem, message, details);
  }
  if (isSetup || !CUSTOMER_CODES.includes(code)) return null;
  const text = describeProviderProblem(problem, messages, secretField !== undefined);
  if (code !== 'UNPROCESSABLE' || !secretField) return new Problem({ message: text });
  return toFieldProblem(problem, text, [{ name: secretField, detail: text }]);
}

function toFieldProblem({ code, document }: Problem, message: string, issues: Issue[]): Problem {
  return new Problem({ message, extensions: { code, problem: { ...document, issues } } });
}

/** Describes in the page's language what a provider did, with the provider's own words. */
function describeProviderProblem(
  { code, message, document: { providerMessage } }: Problem,
  messages: Messages,
  isOfCredentials: boolean,
): string {
  const says = providerMessage === undefined ? '' : ` ${messages.providerSays(providerMessage)}`;
  if (code === 'PROVIDER_ERROR') return messages.providerFailed + says;
  if (isOfCredentials) return messages.credentialsRefused + says;
  return says === '' ? messages.gatewayDetail(message) : messages.providerRefused + says;
}
