/** Converts mappings of values and of further names between the reference API's form and the domain's. */
import type {
  ReadConfig,
  ReadConfigInput,
} from '../../../domain/installation/installation-config.ts';
import type { WireReadObject } from './config-shape.ts';

type WireValues = NonNullable<WireReadObject['selectedValueMappings']>;
type WireDynamic = NonNullable<WireReadObject['dynamicMappingsInput']>;
type WireFilters = NonNullable<WireReadObject['fieldFilters']>;

export function parseValueMappings(wire: WireValues = {}): ReadConfigInput['valueMappings'] {
  return Object.entries(wire).map(([fieldName, values]) => ({
    fieldName,
    values: mappedPairs(values).map(([deliveredValue, providerValue]) => ({
      deliveredValue,
      providerValue,
    })),
  }));
}

/** An empty text is a value without a mapping yet. */
function mappedPairs(values: Record<string, string>): [string, string][] {
  return Object.entries(values).filter(([, providerValue]) => providerValue !== '');
}

export function showValueMappings(mappings: ReadConfig['valueMappings'] = []): WireValues {
  return Object.fromEntries(
    mappings.map(({ fieldName, values }) => [
      fieldName,
      Object.fromEntries(values.map((one) => [one.deliveredValue, one.providerValue])),
    ]),
  );
}

export function showDynamicMappings(mappings: ReadConfig['dynamicMappings'] = []): WireDynamic {
  return mappings.map(({ mapToName, mapToDisplayName, prompt, fieldName, mappedValues }) => ({
    mapToName,
    mapToDisplayName: mapToDisplayName ?? undefined,
    prompt: prompt ?? undefined,
    fieldName: fieldName ?? undefined,
    mappedValues: mappedValues.length > 0 ? mappedValues : undefined,
  }));
}

export function parseFilters(wire: WireFilters = []): ReadConfigInput['fieldFilters'] {
  return wire.map((filter) => ({ ...filter, operator: 'EQ' as const }));
}

export function showFilters(filters: ReadConfig['fieldFilters'] = []): WireFilters {
  return filters.map((filter) => ({ ...filter, operator: 'eq' as const }));
}

/** Maps `.valueMappings[0].values[1].providerValue` to `.selectedValueMappings.stage.open`. */
export function locateInValueMappings(wire: WireValues = {}, location: string): string {
  const [, index, at] = /^\.valueMappings\[(\d+)\](?:\.values\[(\d+)\])?/.exec(location) ?? [];
  const [name, values = {}] = Object.entries(wire)[Number(index)] ?? [];
  if (name === undefined) return location;
  const [delivered] = at === undefined ? [] : (mappedPairs(values)[Number(at)] ?? []);
  return `.selectedValueMappings.${name}${delivered === undefined ? '' : `.${delivered}`}`;
}
