/** Parses a config in the reference API's form, and maps locations in the domain's form back to that form. */
import type {
  ConfigInput,
  ReadConfigInput,
} from '../../../domain/installation/installation-config.ts';
import { wireForm } from '../../endpoint/locations.ts';
import { parseFieldSettings } from './config-field-settings.ts';
import { locateInValueMappings, parseFilters, parseValueMappings } from './config-mappings.ts';
import {
  configInput,
  type WireConfig,
  type WireReadObject,
  type WireWriteObject,
} from './config-shape.ts';
import { locateInSubscribeObject, parseSubscribeObject } from './config-subscribe.ts';

export const CONFIG_FORM = wireForm<WireConfig | undefined>({
  schema: configInput.optional(),
  toDomain: (wire) => wire && parseConfig(wire),
  locate: (wire, location) => (wire ? locateInConfig(wire, location) : location),
});

export function parseConfig({ provider, read, write, subscribe, proxy }: WireConfig): ConfigInput {
  return {
    provider,
    read: Object.entries(read?.objects ?? {}).map(parseReadObject),
    write: Object.entries(write?.objects ?? {}).map(([objectName, wire]) => ({
      objectName,
      deletionEnabled: wire.deletionSettings?.enabled,
      fields: parseFieldSettings(wire),
    })),
    subscribe: Object.entries(subscribe?.objects ?? {}).map(parseSubscribeObject),
    proxy: proxy?.enabled === undefined ? null : { enabled: proxy.enabled },
  };
}

function parseReadObject([objectName, wire]: [string, WireReadObject]): ReadConfigInput {
  const { selectedFieldMappings: mappings, schedule, destination, disabled } = wire;
  return {
    objectName,
    selectedFields: wire.selectedFields && listSelected(wire.selectedFields),
    selectedFieldsAuto: wire.selectedFieldsAuto && 'ALL',
    fieldMappings:
      mappings &&
      Object.entries(mappings).map(([mapToName, fieldName]) => ({ mapToName, fieldName })),
    dynamicMappings: wire.dynamicMappingsInput,
    valueMappings: parseValueMappings(wire.selectedValueMappings),
    fieldFilters: parseFilters(wire.fieldFilters),
    schedule,
    destination,
    disabled,
    backfill: parseBackfill(wire.backfill),
  };
}

/** Clients write `fullHistory: false` next to the days. */
function parseBackfill(backfill: WireReadObject['backfill']): ReadConfigInput['backfill'] {
  if (!backfill) return null;
  const { days, fullHistory } = backfill.defaultPeriod;
  return {
    days,
    fullHistory: fullHistory === false && days !== undefined ? null : fullHistory,
    fieldFilters: parseFilters(backfill.fieldFilters),
  };
}

function listSelected(fields: Record<string, boolean>): string[] {
  return Object.keys(fields).filter((name) => fields[name]);
}

/** `.read[0].selectedFields[1]` is `.read.objects.contacts.selectedFields.phone`. */
export function locateInConfig(wire: WireConfig, location: string): string {
  const [, part, index, rest = ''] =
    /^\.(read|write|subscribe)\[(\d+)\](.*)$/s.exec(location) ?? [];
  if (part !== 'read' && part !== 'write' && part !== 'subscribe') return location;
  const [name = ''] = Object.entries(wire[part]?.objects ?? {})[Number(index)] ?? [];
  const inObject = {
    read: () => locateInReadObject(wire.read?.objects?.[name] ?? {}, rest),
    write: () => locateInWrite(wire.write?.objects?.[name] ?? {}, rest),
    subscribe: () => locateInSubscribeObject(rest),
  };
  return `.${part}.objects.${name}${inObject[part]()}`;
}

function locateInReadObject(wire: WireReadObject, location: string): string {
  const [, list, index] = /^\.(selectedFields|fieldMappings)\[(\d+)\]/.exec(location) ?? [];
  if (list === 'selectedFields') {
    return `.selectedFields.${listSelected(wire.selectedFields ?? {})[Number(index)]}`;
  }
  if (list === 'fieldMappings') {
    const names = Object.keys(wire.selectedFieldMappings ?? {});
    return `.selectedFieldMappings.${names[Number(index)]}`;
  }
  if (location === '.fieldMappings') return '.selectedFieldMappings';
  if (location.startsWith('.valueMappings')) {
    return locateInValueMappings(wire.selectedValueMappings, location);
  }
  if (location.startsWith('.backfill.fieldFilters')) return location;
  return location === '.objectName'
    ? ''
    : location
        .replace(/^\.backfill/, '.backfill.defaultPeriod')
        .replace(/^\.dynamicMappings/, '.dynamicMappingsInput');
}

function locateInWrite(
  { selectedFieldSettings = {}, selectedValueDefaults = {} }: WireWriteObject,
  location: string,
): string {
  const [, index, inSetting = ''] = /^\.fields\[(\d+)\](.*)$/s.exec(location) ?? [];
  if (index !== undefined) {
    const settings = Object.keys(selectedFieldSettings);
    const older = Object.keys(selectedValueDefaults)[Number(index) - settings.length];
    if (older !== undefined) return `.selectedValueDefaults.${older}`;
    const name = settings[Number(index)];
    return `.selectedFieldSettings.${name}${inSetting === '.fieldName' ? '' : inSetting}`;
  }
  if (location === '.objectName') return '';
  return location === '.deletionEnabled' ? '.deletionSettings.enabled' : location;
}
