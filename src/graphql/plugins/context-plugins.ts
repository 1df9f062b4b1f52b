/** Admits the caller of an operation and gives resolvers their context. */
import type { Services } from '../../domain/access/call.ts';
import type { Admission } from '../../domain/access/viewer/admission.ts';
import { createContext } from '../execution/context.ts';
import type { OperationPlugin } from '../execution/operation-context.ts';

export function useAdmission(admission: Pick<Admission, 'admit'>): OperationPlugin {
  return {
    async onContextBuilding({ context, extendContext }) {
      extendContext({ viewer: await admission.admit(context.credentials, context) });
    },
  };
}

/** Creates the context of resolvers. Must follow useAdmission, and useFairShares, which sets the slot. */
export function useResolverContext(services: Services): OperationPlugin {
  return {
    onContextBuilding({ context, extendContext }) {
      extendContext(createContext(services, context));
    },
  };
}
