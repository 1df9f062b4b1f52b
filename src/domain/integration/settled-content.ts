/** The content to store for content that was checked: the provider's own names, and each field once. */
import type { Provider } from '../../providers/contract.ts';
import { findModule, providerAt } from '../../providers/modules.ts';
import { ownObjectName } from '../../providers/object-support.ts';
import type { Call } from '../call.ts';
import type { IntegrationContent } from './integration-content.ts';
import { type Settled, settleFields } from './repeated-fields.ts';

export function settleContent(
  call: Pick<Call, 'log' | 'catalogue'>,
  content: IntegrationContent,
  path: readonly PropertyKey[],
): Settled {
  return settleFields(call, withOwnNames(content, call.catalogue.find(content.provider)), path);
}

/**
 * Replaces aliases of objects and of the module by the provider's own names. A read object keeps an alias as its
 * mapped name, unless it has one: messages, reads and writes go on under the name that the manifest uses.
 */
export function withOwnNames<C extends IntegrationContent>(
  content: C,
  provider: Provider | null,
): C {
  if (!provider) return content;
  const { module = null, read, write, subscribe } = content;
  const at = providerAt(provider, module);
  const own = <T extends { objectName: string }>(object: T): T => ({
    ...object,
    objectName: ownObjectName(at, object.objectName),
  });
  return {
    ...content,
    module: (module !== null && findModule(provider, module)?.name) || module,
    ...(read && {
      read: {
        objects: read.objects.map((object) => {
          const { objectName } = own(object);
          if (objectName === object.objectName) return object;
          return { ...object, objectName, mapToName: object.mapToName ?? object.objectName };
        }),
      },
    }),
    ...(write && { write: { objects: write.objects.map(own) } }),
    ...(subscribe && { subscribe: { objects: subscribe.objects.map(own) } }),
  };
}
