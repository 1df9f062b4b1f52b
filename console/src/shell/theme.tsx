/** Light or dark colors: the system's setting, or the reader's choice. */
import { useState } from 'react';
import { Action } from '../parts/form.tsx';

const KEY = 'gateway.theme';

export function applyTheme(theme: string | null): void {
  if (theme) document.documentElement.dataset.theme = theme;
}

export function readStoredTheme(): string | null {
  return localStorage.getItem(KEY);
}

function isDarkNow(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

export function ThemeSwitch() {
  const [isDark, setDark] = useState(isDarkNow);
  const change = () => {
    const theme = isDark ? 'light' : 'dark';
    localStorage.setItem(KEY, theme);
    applyTheme(theme);
    setDark(!isDark);
  };
  return (
    <Action kind="quiet" onPress={change}>
      {isDark ? 'Light theme' : 'Dark theme'}
    </Action>
  );
}
