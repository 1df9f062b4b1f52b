/** The content of an integration as the YAML of a manifest. */
import { lazy } from 'react';
import { parse, stringify } from 'yaml';
import { toApiForm, toManifestForm } from './manifest-form.ts';
import type { TextFormat } from './revision-editor.tsx';

export const YAML_TEXT: TextFormat = {
  Editor: lazy(() => import('./editor/yaml-editor.tsx')),
  parse: (text) => toApiForm(parse(text)),
};

export function formatYaml(content: object): string {
  return stringify(toManifestForm(content));
}
