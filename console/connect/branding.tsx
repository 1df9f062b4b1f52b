/** The project's name, logo, color and language on the connect page. */
import { type ReactNode, useEffect } from 'react';
import { I18nProvider } from 'react-aria-components';
import { graphql, useFragment } from 'react-relay';
import type { branding_project$key } from '../__generated__/branding_project.graphql.ts';
import { ACCENT_NAMES, createAccentColors } from '../common/accent-colors.ts';
import { chooseLocale } from '../common/languages.ts';
import { useMessages } from './messages.ts';

const PROJECT = graphql`
  fragment branding_project on Project {
    appName
    logoUrl
    accentColor
    locale
  }
`;

/** The locale for the page: the project's, or the first one of the browser that the page has texts for. */
export function choosePageLocale(locale: string | null | undefined): string {
  return chooseLocale(locale ? [locale] : navigator.languages);
}

export function Localized({ locale, children }: { locale: string; children: ReactNode }) {
  useEffect(() => {
    document.documentElement.lang = locale;
  }, [locale]);
  return <I18nProvider locale={locale}>{children}</I18nProvider>;
}

interface BrandedProps {
  project: branding_project$key;
  children: ReactNode;
}

export function Branded({ project, children }: BrandedProps) {
  const { accentColor, locale } = useFragment(PROJECT, project);
  useEffect(() => applyAccent(accentColor ?? null), [accentColor]);
  return <Localized locale={choosePageLocale(locale)}>{children}</Localized>;
}

/** Sets the page's accent colors; null restores the defaults. */
function applyAccent(color: string | null): void {
  const { style } = document.documentElement;
  const colors = color === null ? null : createAccentColors(color);
  // An empty value removes the property.
  for (const name of ACCENT_NAMES) style.setProperty(name, colors?.[name] ?? '');
}

interface BrandedTitleProps {
  project: branding_project$key;
  /** True if the page only asks for approvals. */
  isForApproval: boolean;
}

export function BrandedTitle({ project, isForApproval }: BrandedTitleProps) {
  const { appName, logoUrl } = useFragment(PROJECT, project);
  const messages = useMessages();
  const title = isForApproval ? messages.approvalTitle(appName) : messages.connectTitle(appName);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      {/* The heading names the app, so screen readers skip the logo. */}
      {logoUrl && <img className="logo" src={logoUrl} alt="" referrerPolicy="no-referrer" />}
      <h1>{appName}</h1>
    </>
  );
}
