/** Code that verifies a delivery; a test runs the first two on real ones. */
import type { CodeSample } from '../../pages/code-samples.ts'

/** Older or newer deliveries are refused, so that a recorded one cannot be sent again. */
const TOLERANCE_SECONDS = 300

const PYTHON = `import base64, hashlib, hmac, time

def conferir(segredo, cabecalhos, corpo):
    """Se a entrega é da Catraca. corpo: os bytes recebidos, sem mudar nada."""
    quando = cabecalhos["webhook-timestamp"]
    if abs(time.time() - int(quando)) > ${TOLERANCE_SECONDS}:
        return False
    chave = base64.b64decode(segredo.removeprefix("whsec_"))
    assinado = f"{cabecalhos['webhook-id']}.{quando}.".encode() + corpo
    esperada = base64.b64encode(hmac.new(chave, assinado, hashlib.sha256).digest()).decode()
    # Pode haver mais de uma assinatura, separadas por espaço.
    return any(
        hmac.compare_digest(f"v1,{esperada}", dada)
        for dada in cabecalhos["webhook-signature"].split(" ")
    )`

const JAVASCRIPT = `import { createHmac, timingSafeEqual } from 'node:crypto'

/** Se a entrega é da Catraca. corpo: os bytes recebidos, sem mudar nada. */
export function conferir(segredo, cabecalhos, corpo) {
  const quando = cabecalhos['webhook-timestamp']
  if (!(Math.abs(Date.now() / 1000 - Number(quando)) <= ${TOLERANCE_SECONDS})) return false
  const chave = Buffer.from(segredo.replace(/^whsec_/, ''), 'base64')
  const esperada = createHmac('sha256', chave)
    .update(\`\${cabecalhos['webhook-id']}.\${quando}.\`)
    .update(corpo)
    .digest()
  // Pode haver mais de uma assinatura, separadas por espaço.
  return cabecalhos['webhook-signature'].split(' ').some((dada) => {
    const assinatura = Buffer.from(dada.replace(/^v1,/, ''), 'base64')
    return assinatura.length === esperada.length && timingSafeEqual(assinatura, esperada)
  })
}`

const PHP = `<?php
/** Se a entrega é da Catraca. $corpo: file_get_contents('php://input'), sem mudar nada. */
function conferir(string $segredo, array $cabecalhos, string $corpo): bool
{
    $quando = $cabecalhos['webhook-timestamp'];
    if (abs(time() - (int) $quando) > ${TOLERANCE_SECONDS}) {
        return false;
    }
    $chave = base64_decode(preg_replace('/^whsec_/', '', $segredo));
    $assinado = $cabecalhos['webhook-id'] . '.' . $quando . '.' . $corpo;
    $esperada = 'v1,' . base64_encode(hash_hmac('sha256', $assinado, $chave, true));
    foreach (explode(' ', $cabecalhos['webhook-signature']) as $dada) {
        if (hash_equals($esperada, $dada)) {
            return true;
        }
    }
    return false;
}`

export const webhookSamples: readonly CodeSample[] = [
  { id: 'python', client: 'Python', code: PYTHON },
  { id: 'javascript', client: 'JavaScript', code: JAVASCRIPT },
  { id: 'php', client: 'PHP', code: PHP },
]
