/** Describes all settings from the schema that parses them. */
import { z } from 'zod';
import { Secret } from '../kernel/secrets.ts';
import { type Config, type EnvironmentVariables, environment } from '../settings/config.ts';

/** A description of a setting, for the example file and the documentation. */
interface Setting {
  name: string;
  meaning: string;
  /** The default in the syntax of the variable. Null if there is none. */
  defaultValue: string | null;
  /** The range of an integer. */
  range: { min: number; max: number } | null;
  choices: string[] | null;
}

interface JsonSchema {
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  enum?: string[];
}

export function describeConfig(): Setting[] {
  const { properties = {} } = z.toJSONSchema(environment, { io: 'input' });
  return Object.entries(properties).map(([name, property]) => {
    const {
      description = '',
      default: defaultValue,
      minimum,
      maximum,
      enum: choices,
    } = property as JsonSchema;
    return {
      name,
      meaning: description,
      defaultValue: defaultValue === undefined || defaultValue === '' ? null : String(defaultValue),
      range: minimum === undefined || maximum === undefined ? null : { min: minimum, max: maximum },
      choices: choices ?? null,
    };
  });
}

/** Returns the effective value of a variable, with secrets masked. Null if it is not set. Throws if it is invalid. */
export function findEffectiveValue(name: string, variables: EnvironmentVariables): string | null {
  const schema = environment.shape[name as keyof Config];
  const value: unknown = schema.parse(variables[name] || undefined);
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return null;
  const isStructured =
    Array.isArray(value) && typeof value[0] === 'object' && !(value[0] instanceof Secret);
  return (isStructured ? JSON.stringify(value) : String(value)).replace(/\/\/[^/@]*@/g, '//***@');
}

const LINE_MAX = 100;

/** Returns a file with all variables as comments, in the syntax of a shell and of systemd. */
export function createExampleFile(): string {
  const header = [
    '# Every setting of the gateway, with its default. Remove the # of each setting that you change.',
    '# Load it in a shell with `set -a; . ./.env; set +a`, and in systemd with EnvironmentFile.',
    '# Created by `npm run config -- --example`.',
  ];
  return `${[header, ...describeConfig().map(formatExample)].map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function formatExample({ name, meaning, defaultValue, range, choices }: Setting): string[] {
  const allowed =
    (choices && `One of ${choices.join(', ')}.`) ?? (range && `${range.min} to ${range.max}.`);
  const text = allowed ? `${meaning}. ${allowed}` : `${meaning}.`;
  return [...wrapComment(text), `#${name}=${defaultValue ?? ''}`];
}

function wrapComment(text: string): string[] {
  const lines = ['#'];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line.length + word.length + 1 > LINE_MAX) lines.push(`# ${word}`);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
