/** A choice of scopes for a new key: a preset, or any scopes. */
import { useState } from 'react';
import { Scope } from '../../__generated__/enums.ts';
import { Choice, ControlledCheckBox, type FormValues } from '../parts/form.tsx';

type ScopeName = (typeof Scope)[number];

export type PresetId = 'reader' | 'backend' | 'deployment' | 'pages' | 'full';

interface Preset {
  id: PresetId;
  label: string;
  scopes: readonly ScopeName[];
}

const PRESETS: readonly Preset[] = [
  { id: 'reader', label: 'Read only', scopes: ['READ'] },
  {
    id: 'backend',
    label: 'Backend: connect, install, read and write',
    scopes: ['READ', 'CONNECTIONS_WRITE', 'INSTALLATIONS_WRITE', 'READS_CONTROL', 'RECORDS_WRITE'],
  },
  {
    id: 'deployment',
    label: 'Deployment: integrations, provider apps and destinations',
    scopes: ['READ', 'INTEGRATIONS_WRITE', 'PROVIDER_APPS_WRITE', 'EVENTS_WRITE'],
  },
  { id: 'pages', label: 'Pages in browsers', scopes: ['FRONTEND'] },
  { id: 'full', label: 'Everything in the project, except credentials', scopes: ['FULL'] },
];
const CUSTOM = { id: 'custom', label: 'Custom' };

const getPresetScopes = (id: string) => PRESETS.find((preset) => preset.id === id)?.scopes ?? [];

const getInputName = (scope: ScopeName) => `scope/${scope}`;

/**
 * Returns a scope's name in tokens, errors and the REST API: `provider-apps:write` for `PROVIDER_APPS_WRITE`.
 */
export function formatScope(scope: string): string {
  return scope
    .replace(/_(?=[A-Z]+$)/, ':')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** Scopes that `FULL` does not imply. */
const OUTSIDE_FULL: readonly string[] = ['ORG_WRITE', 'CREDENTIALS_READ'] satisfies ScopeName[];

/** Removes the scopes that `FULL` implies if `FULL` is one of the scopes. */
export function omitImpliedScopes(scopes: readonly string[]): readonly string[] {
  if (!scopes.includes('FULL')) return scopes;
  return ['FULL', ...scopes.filter((scope) => OUTSIDE_FULL.includes(scope))];
}

/** Returns the scopes that are chosen in a submitted form. */
export function readScopes(values: FormValues): ScopeName[] {
  return Scope.filter((scope) => values[getInputName(scope)]);
}

interface ScopeChoiceProps {
  preset?: PresetId | undefined;
  /** True if the user is a member of the org and not an admin. */
  isForMember: boolean;
}

/** The scope that only admins of the org can give to a key. */
const ADMIN_SCOPE: ScopeName = 'ORG_WRITE';

export function ScopeChoice({ preset: initial = 'reader', isForMember }: ScopeChoiceProps) {
  const [chosen, setChosen] = useState(() => getPresetScopes(initial));
  const preset = PRESETS.find(
    ({ scopes }) =>
      scopes.length === chosen.length && scopes.every((scope) => chosen.includes(scope)),
  );
  const choose = (id: string) => {
    if (id !== CUSTOM.id) setChosen(getPresetScopes(id));
  };
  const change = (scope: ScopeName, isOn: boolean) =>
    setChosen(isOn ? [...chosen, scope] : chosen.filter((candidate) => candidate !== scope));
  return (
    <fieldset className="fields">
      <legend className="strong">Scopes</legend>
      <Choice
        label="Preset"
        options={[...PRESETS, CUSTOM]}
        value={preset?.id ?? CUSTOM.id}
        onChange={choose}
      />
      <div className="checks">
        {Scope.filter((scope) => !isForMember || scope !== ADMIN_SCOPE).map((scope) => (
          <ControlledCheckBox
            key={scope}
            name={getInputName(scope)}
            label={formatScope(scope)}
            isOn={chosen.includes(scope)}
            onChange={(isOn) => change(scope, isOn)}
          />
        ))}
      </div>
      {isForMember && <p className="quiet">Only org admins can give {formatScope(ADMIN_SCOPE)}.</p>}
    </fieldset>
  );
}
