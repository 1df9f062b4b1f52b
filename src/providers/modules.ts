/** Modules of providers, and the view of a provider through one of its modules. */
import type { CustomInput, Provider, ProviderModule } from './contract.ts';

/** The module name of a provider without modules. */
const ROOT_MODULE = 'root';

type Modules = [ProviderModule, ...ProviderModule[]];

/** Returns at least one module. The first one is the default. */
export function getModules({ modules = [], displayName, baseUrl }: Provider): Modules {
  const [first, ...otherModules] = modules;
  return first ? [first, ...otherModules] : [{ name: ROOT_MODULE, displayName, baseUrl }];
}

/** Returns the module with that name or alias. Null if the provider has no such module. */
export function findModule(provider: Provider, name: string | null): ProviderModule | null {
  const modules = getModules(provider);
  if (name === null) return modules[0];
  return modules.find((module) => module.name === name || module.aliases?.includes(name)) ?? null;
}

/**
 * Lists the members of the metadata that a connection needs for integrations of the module: those of the provider, and
 * those of the module.
 */
export function listModuleInputs(provider: Provider, name: string | null): CustomInput[] {
  const inputs = [...(provider.inputs ?? []), ...(findModule(provider, name)?.inputs ?? [])];
  return [...new Map(inputs.map((input) => [input.name, input])).values()];
}

/** Returns the module's name under which types of fields are stored. Empty if the provider has no such module. */
export function toModuleKey(provider: Provider, name: string | null): string {
  return findModule(provider, name)?.name ?? '';
}

/** Overrides that remove the provider's objects. The module's connector has its own. */
const NO_OBJECTS = {
  objects: undefined,
  objectAliases: undefined,
  commonObjects: undefined,
  standardNames: undefined,
  ignoresCaseOfNames: undefined,
};

/**
 * Returns the provider for integrations that use the module. If the module has its own connector, the provider also gets
 * its connector, base URL, inputs, headers and objects. Otherwise only the module's inputs apply, and
 * `findProxyProvider` applies its base URL. Null if the provider has no such module.
 */
export function applyModule(provider: Provider, name: string | null): Provider | null {
  const module = findModule(provider, name);
  if (!module) return null;
  const { connector, inputs } = module;
  if (!connector) return inputs ? { ...provider, inputs } : provider;
  return { ...withModuleUrl(provider, module), ...NO_OBJECTS, ...connector };
}

/**
 * Returns the provider to which the proxy sends requests, with the module's base URL if `useModule` is set. Null if the
 * provider has no such module.
 */
export function findProxyProvider(
  provider: Provider,
  { module: name, useModule }: { module: string | null; useModule: boolean },
): Provider | null {
  if (!useModule) return provider;
  const module = findModule(provider, name);
  const moduleProvider = applyModule(provider, name);
  return module && moduleProvider && withModuleUrl(moduleProvider, module);
}

function withModuleUrl(provider: Provider, { baseUrl, inputs, headers }: ProviderModule): Provider {
  return { ...provider, baseUrl, ...(inputs && { inputs }), ...(headers && { headers }) };
}
