/** The modules of providers: which there are, and the provider as an integration of one of them works with it. */
import type { Provider, ProviderModule } from './contract.ts';

/** The name that stands for a provider without modules. */
const ROOT_MODULE = 'root';

type Modules = [ProviderModule, ...ProviderModule[]];

/** At least one; the first is the default. */
export function modulesOf({ modules = [], displayName, baseUrl }: Provider): Modules {
  const [first, ...others] = modules;
  return first ? [first, ...others] : [{ name: ROOT_MODULE, displayName, baseUrl }];
}

/** The module of that name or alias. Null if the provider has no such module. */
export function findModule(provider: Provider, name: string | null): ProviderModule | null {
  const modules = modulesOf(provider);
  if (name === null) return modules[0];
  return modules.find((one) => one.name === name || one.aliases?.includes(name)) ?? null;
}

/**
 * The provider as the module has it: its address, and the code that reads and writes there. Null if there is no such
 * module.
 */
export function providerAt(provider: Provider, name: string | null): Provider | null {
  const module = findModule(provider, name);
  if (!module) return null;
  const { connector, inputs } = module;
  if (!connector) return inputs ? { ...provider, inputs } : provider;
  return { ...addressedAt(provider, module), ...withoutObjects, ...connector };
}
/** The provider's own objects are not those of a module that has a connector of its own. */
const withoutObjects = {
  objects: undefined,
  objectAliases: undefined,
  commonObjects: undefined,
};

/** What requests are forwarded to: the module's address if the integration uses it, else the provider's. */
export function forwardedTo(
  provider: Provider,
  { module: name, useModule }: { module: string | null; useModule: boolean },
): Provider | null {
  if (!useModule) return provider;
  const module = findModule(provider, name);
  const at = providerAt(provider, name);
  return module && at && addressedAt(at, module);
}

function addressedAt(provider: Provider, { baseUrl, inputs, headers }: ProviderModule): Provider {
  return { ...provider, baseUrl, ...(inputs && { inputs }), ...(headers && { headers }) };
}
