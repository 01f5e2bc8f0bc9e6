import { t } from '../language/t.ts'

export function SkipLink() {
  return (
    <a
      href="#conteudo"
      onClick={(event) => {
        // Otherwise the router would treat the fragment as a navigation.
        event.preventDefault()
        document.getElementById('conteudo')?.focus()
      }}
      className="fixed top-2 left-2 z-50 -translate-y-16 rounded-lg bg-accent px-4 py-3 font-semibold text-on-accent focus:translate-y-0"
    >
      {t('Pular para o conteúdo')}
    </a>
  )
}
