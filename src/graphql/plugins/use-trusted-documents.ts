/** With TRUSTED_DOCUMENTS=only: refuses other documents to callers who may run only trusted ones. */
import type { OperationPlugin } from '../execution/operation-context.ts';
import type { TrustedDocuments } from '../execution/trusted-documents.ts';

/** Must follow useAdmission, which finds the caller. */
export function useTrustedDocuments(trusted: TrustedDocuments): OperationPlugin {
  return {
    onContextBuilding({ context: { viewer, text = '', isTrusted, validateLater } }) {
      if (isTrusted) return;
      trusted.refuseFor(viewer, text);
      const errors = validateLater?.() ?? [];
      if (errors.length > 0) throw new AggregateError(errors);
    },
  };
}
