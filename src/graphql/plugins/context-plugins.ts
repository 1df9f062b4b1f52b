/** Admits the caller of an operation and gives resolvers their context. */
import type { Services } from '../../domain/call.ts';
import type { Admission } from '../../domain/viewer/admission.ts';
import { createContext } from '../execution/context.ts';
import type { OperationPlugin } from '../execution/operation-context.ts';
import type { TrustedDocuments } from '../execution/trusted-documents.ts';

export function useAdmission(admission: Pick<Admission, 'admit'>): OperationPlugin {
  return {
    async onContextBuilding({ context, extendContext }) {
      extendContext({ viewer: await admission.admit(context.credentials, context) });
    },
  };
}

/** Refuses untrusted documents from callers who may run only trusted documents. Must follow useAdmission. */
export function useTrustedDocuments(trusted: TrustedDocuments): OperationPlugin {
  return {
    onContextBuilding({ context: { viewer, text = '', isTrusted } }) {
      if (!isTrusted) trusted.requireTrusted(viewer, text);
    },
  };
}

/** Validates documents that must not be validated before their caller is identified. Must follow useSchema. */
export function useLateValidation(): OperationPlugin {
  return {
    onContextBuilding({ context: { schema, validateLater } }) {
      const errors = (schema && validateLater?.(schema)) ?? [];
      if (errors.length > 0) throw new AggregateError(errors);
    },
  };
}

/** Creates the context of resolvers. Must follow useAdmission. */
export function useResolverContext(services: Services): OperationPlugin {
  return {
    onContextBuilding({ context, extendContext }) {
      extendContext(createContext(services, context));
    },
  };
}
