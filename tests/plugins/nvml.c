/* tests/plugins/nvml.c - an NVML of our own: one GPU that draws what the test says. */
#include <string.h>

#pragma GCC visibility push(default)

extern unsigned long long fake_drawn; /* millijoules */
extern int                fake_fault, fake_open;
unsigned long long        fake_drawn;
int                       fake_fault, fake_open;

extern int nvmlInit_v2(void);
extern int nvmlShutdown(void);
extern int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device);
extern int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *out);

int nvmlInit_v2(void)
{
    if (fake_fault == 1) return 9;
    fake_open++;
    return 0;
}

int nvmlShutdown(void)
{
    fake_open--;
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device)
{
    if (strcmp(bus, "0000:0a:00.0") != 0) return 6;
    *device = &fake_drawn;
    return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *out)
{
    if (fake_fault == 2 || device != &fake_drawn) return 3;
    *out = fake_drawn;
    return 0;
}
