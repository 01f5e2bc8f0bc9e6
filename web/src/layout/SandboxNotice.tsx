export function SandboxNotice() {
  return (
    <aside
      aria-label="Modo de teste"
      className="bg-warning-soft px-4 py-2 text-center text-sm text-warning"
    >
      <strong className="font-semibold">Modo de teste:</strong> nada aqui usa dinheiro nem modelos
      de verdade.{' '}
      <a href="/mailbox" className="font-medium underline underline-offset-2">
        Ver os e-mails enviados
      </a>
    </aside>
  )
}
