/**
 * The canonical form of project documents, in which equal projects are equal: members are in the order of the schema, lists
 * of names are sorted, and defaults are omitted.
 */
import { z } from 'zod';
import type { NotificationEventType } from '../../database/generated/enums.ts';
import { EVENTS } from '../../events/event-types.ts';
import { isObject } from '../../work/is-object.ts';
import { unwrapSchema } from '../base/unwrap-schema.ts';
import { integrationContentInput } from '../integrations/integration/integration-content-input.ts';

/** An absent member has its default. */
export interface CanonicalAppearance {
  appName?: string;
  logoUrl?: string;
  accentColor?: string;
  locale?: string;
}

/** Header names are in lower case and sorted. */
export interface CanonicalDestination {
  name: string;
  type: 'webhook' | 'stream';
  url?: string;
  headers?: string[];
  status?: 'disabled';
}

export interface CanonicalJwtKey {
  label: string;
  publicKeyPem: string;
  active?: false;
}

export interface CanonicalTopic {
  name: string;
  eventTypes?: string[];
  destinations?: string[];
}

export interface CanonicalDocument {
  specVersion: string;
  appearance?: CanonicalAppearance;
  allowedOrigins?: string[];
  jwtKeys?: CanonicalJwtKey[];
  providerApps?: { provider: string; name: string }[];
  destinations?: CanonicalDestination[];
  topics?: CanonicalTopic[];
  /** Contents of integrations, in the words of manifests. */
  integrations?: ({ name: string; provider: string } & Record<string, unknown>)[];
}

/** Returns the appearance of a project or of a document in canonical form. */
export function toCanonicalAppearance({
  appName,
  logoUrl,
  accentColor,
  locale,
}: { [K in keyof CanonicalAppearance]?: string | null | undefined }): CanonicalAppearance {
  return {
    ...(appName != null && { appName }),
    ...(logoUrl != null && { logoUrl }),
    ...(accentColor != null && { accentColor }),
    ...(locale != null && { locale }),
  };
}

export function toCanonicalJwtKey({
  label,
  publicKeyPem,
  active,
}: Omit<CanonicalJwtKey, 'active'> & { active: boolean }): CanonicalJwtKey {
  return { label, publicKeyPem, ...(!active && { active: false }) };
}

/** Returns a topic in canonical form. Its event types must be wire names. */
export function toCanonicalTopic({
  name,
  eventTypes,
  destinations,
}: Required<CanonicalTopic>): CanonicalTopic {
  return {
    name,
    ...(eventTypes.length > 0 && {
      eventTypes: eventTypes.toSorted(createStringComparator(String)),
    }),
    ...(destinations.length > 0 && {
      destinations: destinations.toSorted(createStringComparator(String)),
    }),
  };
}

/** Returns stored content in canonical form. It is not validated, because it may be older than a rule. */
export function toCanonicalContent(content: object): Record<string, unknown> & {
  name: string;
  provider: string;
} {
  return omitEmptyMembers(integrationContentInput, content) as ReturnType<
    typeof toCanonicalContent
  >;
}

/** Returns the value with members in the order of the schema, without empty and default members. */
function omitEmptyMembers(schema: z.ZodType, value: unknown): unknown {
  const { inner } = unwrapSchema(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => omitEmptyMembers(inner.element as z.ZodType, item));
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([name, type]) => {
      const member = value[name];
      const isEmpty = member === false || (Array.isArray(member) && member.length === 0);
      if (member == null || (isEmpty && unwrapSchema(type).isOptional)) return [];
      return [[name, omitEmptyMembers(type, member)]];
    }),
  );
}

/** Creates a comparator of strings by code units, so that the order does not depend on the locale. */
export function createStringComparator<T>(toText: (item: T) => string) {
  return (a: T, b: T): number => {
    const left = toText(a);
    const right = toText(b);
    return left < right ? -1 : Number(left > right);
  };
}

export function toEventWireName(name: NotificationEventType): string {
  return EVENTS[name].wireName;
}

const EVENT_TYPES_BY_WIRE_NAME = new Map(
  Object.entries(EVENTS).map(([name, { wireName }]) => [wireName as string, name]),
);

/** Returns the event type with a wire name that `toEventWireName` returned. */
export function parseEventWireName(wireName: string): NotificationEventType {
  return EVENT_TYPES_BY_WIRE_NAME.get(wireName) as NotificationEventType;
}
