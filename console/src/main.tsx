import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyTheme, readStoredTheme } from './shell/theme.tsx';
import './style/base.css';
import './style/parts.css';
import './style/routes.css';
import './style/shell.css';

applyTheme(readStoredTheme());
createRoot(document.getElementById('root') as HTMLElement).render(
  <I18nProvider locale="en">
    <App />
  </I18nProvider>,
);
