/** From a config as the platform writes it to the domain's, and from places in that back to places in this. */
import type {
  ConfigInput,
  ReadConfigInput,
} from '../../../domain/installation/installation-config.ts';
import { wireForm } from '../../endpoint/wire-form.ts';
import { parseFieldSettings } from './config-field-settings.ts';
import { parseFilters, parseValueMappings, placeInValueMappings } from './config-mappings.ts';
import {
  configInput,
  type WireConfig,
  type WireReadObject,
  type WireWriteObject,
} from './config-shape.ts';
import { parseSubscribeObject, placeInSubscribeObject } from './config-subscribe.ts';

export const CONFIG_FORM = wireForm<WireConfig | undefined>({
  schema: configInput.optional(),
  toDomain: (wire) => wire && parseConfig(wire),
  placeIn: (wire, place) => (wire ? placeInConfig(wire, place) : place),
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
    selectedFields: wire.selectedFields && selectedNames(wire.selectedFields),
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
    backfill: takeBackfill(wire.backfill),
  };
}

/** Clients write `fullHistory: false` next to the days. */
function takeBackfill(backfill: WireReadObject['backfill']): ReadConfigInput['backfill'] {
  if (!backfill) return null;
  const { days, fullHistory } = backfill.defaultPeriod;
  return {
    days,
    fullHistory: fullHistory === false && days !== undefined ? null : fullHistory,
    fieldFilters: parseFilters(backfill.fieldFilters),
  };
}

function selectedNames(fields: Record<string, boolean>): string[] {
  return Object.keys(fields).filter((name) => fields[name]);
}

/** `.read[0].selectedFields[1]` is `.read.objects.contacts.selectedFields.phone`. */
export function placeInConfig(wire: WireConfig, place: string): string {
  const [, part, index, rest = ''] = /^\.(read|write|subscribe)\[(\d+)\](.*)$/s.exec(place) ?? [];
  if (part !== 'read' && part !== 'write' && part !== 'subscribe') return place;
  const [name = ''] = Object.entries(wire[part]?.objects ?? {})[Number(index)] ?? [];
  const inObject = {
    read: () => placeInReadObject(wire.read?.objects?.[name] ?? {}, rest),
    write: () => placeInWrite(wire.write?.objects?.[name] ?? {}, rest),
    subscribe: () => placeInSubscribeObject(rest),
  };
  return `.${part}.objects.${name}${inObject[part]()}`;
}

function placeInReadObject(wire: WireReadObject, place: string): string {
  const [, list, index] = /^\.(selectedFields|fieldMappings)\[(\d+)\]/.exec(place) ?? [];
  if (list === 'selectedFields') {
    return `.selectedFields.${selectedNames(wire.selectedFields ?? {})[Number(index)]}`;
  }
  if (list === 'fieldMappings') {
    const names = Object.keys(wire.selectedFieldMappings ?? {});
    return `.selectedFieldMappings.${names[Number(index)]}`;
  }
  if (place === '.fieldMappings') return '.selectedFieldMappings';
  if (place.startsWith('.valueMappings')) {
    return placeInValueMappings(wire.selectedValueMappings, place);
  }
  if (place.startsWith('.backfill.fieldFilters')) return place;
  return place === '.objectName'
    ? ''
    : place
        .replace(/^\.backfill/, '.backfill.defaultPeriod')
        .replace(/^\.dynamicMappings/, '.dynamicMappingsInput');
}

function placeInWrite(
  { selectedFieldSettings = {}, selectedValueDefaults = {} }: WireWriteObject,
  place: string,
): string {
  const [, index, inSetting = ''] = /^\.fields\[(\d+)\](.*)$/s.exec(place) ?? [];
  if (index !== undefined) {
    const settings = Object.keys(selectedFieldSettings);
    const older = Object.keys(selectedValueDefaults)[Number(index) - settings.length];
    if (older !== undefined) return `.selectedValueDefaults.${older}`;
    const name = settings[Number(index)];
    return `.selectedFieldSettings.${name}${inSetting === '.fieldName' ? '' : inSetting}`;
  }
  if (place === '.objectName') return '';
  return place === '.deletionEnabled' ? '.deletionSettings.enabled' : place;
}
