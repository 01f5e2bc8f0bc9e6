import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import {
  BookOpen,
  Boxes,
  ChartColumnStacked,
  FilePlus,
  KeyRound,
  Monitor,
  Moon,
  Sun,
  Wallet,
  type LucideIcon,
} from 'lucide-react'
import { keyListQuery } from '../pages/keys/key-queries.ts'
import { catalogQuery } from '../pages/models/catalog-query.ts'
import type { Command } from './commands.ts'
import { MENU, type MenuEntry } from './menu.ts'
import { chooseTheme } from './theme.ts'
import { t } from '../language/t.ts'

/** Pages, acts, the newest keys and all models; `menu` is that of the area. */
export function useCommands(menu: readonly MenuEntry[]): readonly Command[] {
  const navigate = useNavigate()
  const { history } = useRouter()
  const keys = useInfiniteQuery(keyListQuery(undefined))
  const catalog = useQuery(catalogQuery)
  const pages = [...new Map([...menu, ...MENU()].map((entry) => [entry.to, entry])).values()]
  const goTo = (address: string) => () => history.push(address)
  return [
    ...pages.map(({ to, label, icon, group }): Command => ({
      id: `page ${to}`,
      kind: 'page',
      label,
      icon,
      ...(group === undefined ? {} : { words: group }),
      run: () => void navigate({ to }),
    })),
    act(t('Criar chave'), KeyRound, goTo('/chaves?criar=chave'), t('nova api')),
    act(t('Nova recarga'), Wallet, goTo('/recargas'), t('pix cartão boleto saldo pagar')),
    act(t('Novo prompt'), FilePlus, goTo('/prompts/novo')),
    act(
      t('Ver o gasto por modelo'),
      ChartColumnStacked,
      goTo('/uso?ver=gasto'),
      t('custo equipe sessão'),
    ),
    act(t('Ler a documentação da API'), BookOpen, () => location.assign('/docs'), t('docs guia')),
    act(t('Tema claro'), Sun, () => chooseTheme('light')),
    act(t('Tema escuro'), Moon, () => chooseTheme('dark')),
    act(t('Tema do sistema'), Monitor, () => chooseTheme('system')),
    ...(keys.data?.pages.flatMap((page) => page.api_keys) ?? []).map(
      ({ id, name, last_four }): Command => ({
        id: `key ${id}`,
        kind: 'key',
        label: `${name} (…${last_four})`,
        words: t('uso'),
        icon: KeyRound,
        run: goTo(`/uso?chave=${id}`),
      }),
    ),
    ...(catalog.data?.models ?? []).map(({ id, display_name, upstream, category }): Command => ({
      id: `model ${id}`,
      kind: 'model',
      label: display_name,
      words: `${id} ${upstream}`,
      icon: Boxes,
      run: goTo(
        category === 'llm' || category === 'image'
          ? `/playground?modelo=${encodeURIComponent(id)}`
          : `/modelos?busca=${encodeURIComponent(id)}`,
      ),
    })),
  ]
}

function act(label: string, icon: LucideIcon, run: () => void, words = ''): Command {
  return { id: `act ${label}`, kind: 'act', label, icon, run, words }
}
